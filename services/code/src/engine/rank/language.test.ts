import { expect, test } from "vitest";
import { languageOf } from "./language.ts";

test.each([
  ["src/a.go", "Go"],
  ["A.TSX", "TSX"],
  ["build.gradle", "Gradle"],
  ["docs/a.mdx", "MDX"],
  ["app/views/a.html.erb", "HTML+ERB"],
  ["messages.properties", "Java Properties"],
  [".vscode/a.jsonc", "JSON with Comments"],
  ["tsconfig.json", "JSON with Comments"],
  ["a.vb", "Visual Basic .NET"],
  ["graph.dot", "Graphviz (DOT)"],
  ["a.fish", "fish"],
  ["Justfile", "Just"],
  ["a.unheard-of", ""],
])("%s is %s, as linguist calls it", (path, language) => {
  expect(languageOf(path, "")).toBe(language);
});

test("a header is in the language of what stands in it", () => {
  expect(languageOf("a.h", "int x;")).toBe("C");
  expect(languageOf("a.h", "namespace a {")).toBe("C++");
  expect(languageOf("a.h", "@interface A")).toBe("Objective-C");
});

test("a script without an extension is in the language of its interpreter", () => {
  expect(languageOf("bin/run", "#!/usr/bin/env python3\nx")).toBe("Python");
  expect(languageOf("bin/run", "echo")).toBe("");
});
