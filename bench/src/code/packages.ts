/** What the corpus of the code bench is made of: source packages of Debian 12 and packages of npm, each at one version. About 750 MB of text in many languages, some of it in very long lines. */

export const debianPackages: readonly { readonly name: string; readonly version: string }[] = [
  { name: "golang-1.19", version: "1.19.8-2" },
  { name: "python3.11", version: "3.11.2-6+deb12u8" },
  { name: "postgresql-15", version: "15.18-0+deb12u1" },
  { name: "ffmpeg", version: "7:5.1.9-0+deb12u1" },
  { name: "git", version: "1:2.39.5-0+deb12u3" },
  { name: "redis", version: "5:7.0.15-1~deb12u7" },
  { name: "vim", version: "2:9.0.1378-2+deb12u2" },
];

export const npmPackages: readonly string[] = [
  "typescript@5.4.5",
  "lodash@4.17.21",
  "monaco-editor@0.52.2",
  "aws-sdk@2.1692.0",
];
