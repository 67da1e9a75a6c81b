/**
 * The little XML that S3 speaks: nested elements with text, read into a tree; and text made safe to put into one. Not a parser for other people's
 * documents: it knows no namespaces, and refuses doctypes.
 */

export class XmlElement {
  readonly name: string;
  readonly children: XmlElement[] = [];
  text = "";

  constructor(name: string) {
    this.name = name;
  }

  all(name: string): XmlElement[] {
    return this.children.filter((child) => child.name === name);
  }

  /** The text of the first child of that name. */
  get(name: string): string | undefined {
    return this.children.find((child) => child.name === name)?.text;
  }
}

export class XmlError extends Error {
  override readonly name = "XmlError";
}

const TOKEN =
  /<\?[^>]*\?>|<!--[\s\S]*?-->|<(?<close>\/)?(?<tag>[A-Za-z_][\w.:-]*)[^<>]*?(?<empty>\/)?>|(?<text>[^<]+)|(?<bad><)/g;

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** The document's one root element. */
export function readXml(document: string): XmlElement {
  const top = new XmlElement("");
  const open: XmlElement[] = [top];
  for (const { groups = {} } of document.matchAll(TOKEN)) {
    const { close, tag, empty, text, bad } = groups;
    const inside = open.at(-1)!;
    if (bad !== undefined) throw new XmlError("not an XML that S3 would send");
    if (text !== undefined) inside.text += unescapeXml(text);
    if (tag === undefined) continue;
    if (close !== undefined) {
      if (inside.name !== tag || open.length === 1) throw new XmlError(`</${tag}> closes <${inside.name}>`);
      open.pop();
      continue;
    }
    const element = new XmlElement(tag);
    inside.children.push(element);
    if (empty === undefined) open.push(element);
  }
  const [root] = top.children;
  if (root === undefined || open.length > 1) throw new XmlError("the document is cut short");
  return root;
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

function unescapeXml(text: string): string {
  return text.replaceAll(
    /&(?:#(\d+)|#x([0-9A-Fa-f]+)|(\w+));/g,
    (all, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? all;
      return String.fromCodePoint(decimal === undefined ? parseInt(hex!, 16) : Number(decimal));
    },
  );
}
