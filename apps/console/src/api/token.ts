/** The token that this tab shows to the gateway. It is kept for as long as the tab is open, in no address and in no cookie. */
import { signal } from "@preact/signals";

const KEY = "keelson-token";

const token = signal(sessionStorage.getItem(KEY) ?? "");

export function keepToken(text: string): void {
  token.value = text;
  if (text === "") sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, text);
}

export function authorization(): Record<string, string> {
  return token.value === "" ? {} : { authorization: `Bearer ${token.value}` };
}
