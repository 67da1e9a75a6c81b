/** The page at /docs: lists every operation of the OpenAPI document and calls it. Everything it needs is served from here; it works offline. */

export const DOCS_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Keelson API</title>
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/page.js" defer></script>
</head>
<body>
<header>
<h1>Keelson API</h1>
<label>Token <input id="token" type="password" autocomplete="off" placeholder="none needed on loopback"></label>
<a href="/openapi.json">openapi.json</a>
</header>
<main id="operations" aria-live="polite">Loading…</main>
</body>
</html>
`;

export const DOCS_CSS = `:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; padding: .8rem 1rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1rem; margin: 0; } h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
main { max-width: 60rem; margin: 0 auto; padding: 0 1rem 4rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
summary { padding: .5rem .8rem; cursor: pointer; display: flex; gap: .7rem; flex-wrap: wrap; }
summary code { font-weight: 600; } .verb { min-width: 4.2rem; } .quiet { opacity: .7; }
form { padding: .2rem .8rem .8rem; display: grid; gap: .5rem; }
form label { display: grid; grid-template-columns: 9rem 1fr; gap: .6rem; align-items: start; }
input, textarea { font: inherit; padding: .3rem .5rem; border: 1px solid var(--line); border-radius: 4px; background: transparent; color: inherit; width: 100%; }
textarea { font-family: ui-monospace, monospace; min-height: 6rem; }
button { font: inherit; padding: .35rem 1rem; border-radius: 4px; border: 1px solid var(--line); cursor: pointer; justify-self: start; }
pre { margin: 0; padding: .6rem; overflow: auto; max-height: 24rem; border: 1px solid var(--line); border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere; }
`;

export const DOCS_JS = `"use strict";
const el = (name, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(name), attributes);
  node.append(...children);
  return node;
};
const STREAM_CHARS_MAX = 100000;

/** A value that fits a schema, to begin with. */
function sample(schema) {
  if (!schema) return null;
  if ("default" in schema) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sample(schema.anyOf[0]);
  switch (schema.type) {
    case "object": return Object.fromEntries(Object.entries(schema.properties ?? {})
      .filter(([name]) => (schema.required ?? []).includes(name)).map(([name, each]) => [name, sample(each)]));
    case "array": return [];
    case "integer": case "number": return schema.minimum > 0 ? schema.minimum : 0;
    case "boolean": return false;
    case "string": return "";
    default: return null;
  }
}

async function send(verb, path, operation, form, output) {
  let url = path;
  const query = new URLSearchParams();
  for (const { name, in: where } of operation.parameters) {
    const value = form.elements["p:" + name].value;
    if (where === "path") url = url.replace("{" + name + "}", encodeURIComponent(value));
    else if (value !== "") query.append(name, value);
  }
  if (query.size > 0) url += "?" + query;
  const headers = {};
  const token = document.getElementById("token").value;
  if (token) headers.authorization = "Bearer " + token;
  const body = form.elements["body"]?.value;
  if (body !== undefined) headers["content-type"] = "application/json";
  const began = performance.now();
  const abort = new AbortController();
  form.elements["stop"].onclick = () => abort.abort();
  output.textContent = verb + " " + url + "\\n…";
  try {
    const answer = await fetch(url, { method: verb, headers, body, signal: abort.signal });
    const head = answer.status + " in " + Math.round(performance.now() - began) + " ms\\n" +
      [...answer.headers].filter(([name]) => name.startsWith("keelson-") || name === "retry-after").map(([name, value]) => name + ": " + value + "\\n").join("");
    if (/json$/.test(answer.headers.get("content-type") ?? "") && !/ndjson/.test(answer.headers.get("content-type"))) {
      output.textContent = head + "\\n" + JSON.stringify(await answer.json(), null, 2);
      return;
    }
    output.textContent = head + "\\n";
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read())
      output.textContent = (output.textContent + next.value).slice(-STREAM_CHARS_MAX);
  } catch (error) {
    output.textContent += "\\n" + error;
  }
}

function operationView(verb, path, operation) {
  const form = el("form");
  for (const parameter of operation.parameters) {
    const input = el("input", { name: "p:" + parameter.name, required: parameter.required, placeholder: parameter.description ?? "" });
    form.append(el("label", {}, el("span", {}, parameter.name + (parameter.required ? " *" : "")), input));
  }
  const schema = operation.requestBody?.content["application/json"].schema;
  if (schema) {
    const text = el("textarea", { name: "body", spellcheck: false, value: JSON.stringify(sample(schema), null, 2) });
    form.append(el("label", {}, el("span", {}, "body"), text));
    form.append(el("details", {}, el("summary", {}, "schema of the body"), el("pre", {}, JSON.stringify(schema, null, 2))));
  }
  const output = el("pre", { hidden: true });
  form.append(el("div", {}, el("button", { type: "submit" }, "Send"), " ", el("button", { type: "button", name: "stop" }, "Stop")), output);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    output.hidden = false;
    void send(verb, path, operation, form, output);
  });
  return el("details", {},
    el("summary", {}, el("code", { className: "verb" }, verb), el("code", {}, path), el("span", { className: "quiet" }, operation.summary + " · " + operation["x-scope"])),
    form);
}

async function show() {
  const main = document.getElementById("operations");
  const token = document.getElementById("token");
  token.value = sessionStorage.getItem("keelson-token") ?? "";
  token.addEventListener("change", () => sessionStorage.setItem("keelson-token", token.value));
  const api = await (await fetch("/openapi.json")).json();
  main.replaceChildren();
  for (const tag of api.tags) {
    main.append(el("h2", {}, tag.name + ": " + tag.description));
    for (const [path, verbs] of Object.entries(api.paths))
      for (const [verb, operation] of Object.entries(verbs))
        if (operation.tags.includes(tag.name)) main.append(operationView(verb.toUpperCase(), path, operation));
  }
}
show().catch((error) => { document.getElementById("operations").textContent = String(error); });
`;
