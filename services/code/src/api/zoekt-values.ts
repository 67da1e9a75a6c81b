/** Values as zoekt writes them in JSON. */
import type { SymbolInfo } from "../engine/index.ts";

export function symbolInfo(symbol: SymbolInfo | undefined): Record<string, string> | null {
  if (!symbol) return null;
  return { Sym: symbol.name, Kind: symbol.kind, Parent: symbol.parent, ParentKind: symbol.parentKind };
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
