import { expect, test } from "vitest";
import { escapeXml, readXml } from "./xml.ts";

test("reads nested elements and their text", () => {
  const root = readXml(
    '<?xml version="1.0" encoding="UTF-8"?>\n<R xmlns="http://x/"><!-- no --><A>1 &lt; 2 &amp;&#233;&#x1F600;</A><B><C/><C></C></B><A>3</A></R>',
  );
  expect(root.name).toBe("R");
  expect(root.all("A").map(({ text }) => text)).toEqual(["1 < 2 &é😀", "3"]);
  expect(root.all("B")[0]?.all("C")).toHaveLength(2);
  expect(root.get("A")).toBe("1 < 2 &é😀");
  expect(root.get("Z")).toBeUndefined();
});

test.each([
  "",
  "hello",
  "<a>",
  "<a><b></a></b>",
  "</a>",
  "<!DOCTYPE x [<!ENTITY y 'z'>]><a/>",
  "<a",
  "<a><![CDATA[x]]></a>",
])("%j is not what S3 sends", (text) => {
  expect(() => readXml(text)).toThrow(expect.objectContaining({ name: "XmlError" }));
});

test("what was escaped reads as it was", () => {
  const text = `<a>&"'é]]>`;
  expect(readXml(`<k>${escapeXml(text)}</k>`).text).toBe(text);
});
