/**
 * The address of a repository: what may be one, how it is shown, and the name that people search by. It refuses addresses that make git run programs, that
 * look like options, and that carry a password: credentials have their own place.
 */
import { isAbsolute } from "node:path";
import { GitError } from "./git-error.ts";

export interface Remote {
  /** What git is given. */
  readonly url: string;
  readonly kind: "http" | "ssh" | "git" | "folder";
  /** For credentials; empty for folders. */
  readonly host: string;
  /** `github.com/a/b`: the host and the path, without `.git`. */
  readonly name: string;
}

const urlLengthMax = 2_048;
const SCP = /^(?:([A-Za-z0-9._-]+)@)?([A-Za-z0-9.-]+):(?!\/\/)([^\s]+)$/;

/** `ext::…`: what git runs a program for. An IPv6 address has two colons too, and a folder may. */
const HELPER = /^[A-Za-z0-9+.-]*::/;

// oxlint-disable-next-line no-control-regex -- they are what is refused.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Throws GitError BAD_URL. */
export function parseRemote(text: string): Remote {
  const url = text.trim();
  const secretless = url.replace(/\/\/[^@/]*@/, "//…@").replace(/(:\/\/[^?#]*[?#]).*$/, "$1…");
  const shown = JSON.stringify(secretless.slice(0, 200));
  const bad = (why: string): GitError =>
    new GitError("BAD_URL", `${shown} is no address of a repository: ${why}`);
  if (url === "") throw bad("it is empty");
  if (url.length > urlLengthMax) throw bad(`it is longer than ${urlLengthMax} characters`);
  if (CONTROL.test(url)) throw bad("it has control characters");
  if (url.startsWith("-")) throw bad("it begins with a dash");
  if (HELPER.test(url)) throw bad("remote helpers are not allowed; use https, ssh, git, file or a folder");
  if (isAbsolute(url)) return folder(url);
  if (/\s/.test(url)) throw bad("it has spaces in it");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return fromUrl(url, bad);
  const scp = SCP.exec(url);
  if (scp) {
    const [, user, host = "", path = ""] = scp;
    if (host.startsWith("-") || path.startsWith("-")) throw bad("a part of it begins with a dash");
    return {
      url: `${user === undefined ? "" : `${user}@`}${host}:${path}`,
      kind: "ssh",
      host,
      name: nameOf(host, path),
    };
  }
  throw bad("write https://host/path, ssh://host/path, user@host:path, or the absolute path of a folder");
}

function fromUrl(text: string, bad: (why: string) => GitError): Remote {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw bad("it cannot be read");
  }
  const protocol = url.protocol.slice(0, -1);
  if (url.password !== "" || (url.username !== "" && protocol !== "ssh"))
    throw bad("it carries a user or a password: put credentials into the configuration, by host");
  if (protocol !== "file" && (url.search !== "" || url.hash !== ""))
    throw bad(
      "it has a query or a fragment, which no git server needs: put credentials into the configuration, by host",
    );
  if (url.hostname.startsWith("-") || url.pathname.startsWith("/-"))
    throw bad("a part of it begins with a dash");
  switch (protocol) {
    case "http":
    case "https":
      return { url: text, kind: "http", host: url.host, name: nameOf(url.host, url.pathname) };
    case "ssh":
    case "git":
      return { url: text, kind: protocol, host: url.host, name: nameOf(url.host, url.pathname) };
    case "file":
      if (url.host !== "") throw bad("a file address has no host");
      return folder(decoded(url.pathname, bad));
    default:
      throw bad(`${protocol} is not one of https, http, ssh, git, file`);
  }
}

function decoded(path: string, bad: (why: string) => GitError): string {
  let text: string;
  try {
    text = decodeURIComponent(path);
  } catch {
    throw bad("its path is not properly encoded");
  }
  if (CONTROL.test(text)) throw bad("it has control characters");
  return text;
}

function folder(path: string): Remote {
  return { url: path, kind: "folder", host: "", name: nameOf("", path) };
}

function nameOf(host: string, path: string): string {
  const clean = path
    .replace(/\/+$/, "")
    .replace(/(?:\/\.git|\.git)$/, "")
    .replace(/^\/+/, "");
  const parts = clean.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
  return host === "" ? parts.slice(-2).join("/") : [host.replace(/:\d+$/, ""), ...parts].join("/");
}
