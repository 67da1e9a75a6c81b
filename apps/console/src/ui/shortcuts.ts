/**
 * What the keyboard does: single keys and pairs of them such as `g n`, each with a title, so that the help and the command palette can list
 * them. A key that is typed into a field is the field's.
 */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Command {
  /** Keys in the order they are pressed, separated by spaces: `g n`, `?`, `Escape`. Left out, it is in the palette only. */
  readonly keys?: string;
  readonly title: string;
  /** Under which heading it is listed. */
  readonly group: string;
  /** Shown in the palette under its title. */
  readonly about?: string;
  run(): void;
}

/** How long the first key of a pair is waited for. */
const PAIR_MS = 1_200;

export const commands = signal<readonly Command[]>([]);

/** Adds commands; returns how to take them away. Of two with the same keys the later one counts. */
export function addCommands(added: readonly Command[]): () => void {
  commands.value = [...commands.value, ...added];
  return () => {
    commands.value = commands.value.filter((one) => !added.includes(one));
  };
}

/** The commands of a page, for as long as it is shown. `key` changes when they do. */
export function useCommands(make: () => readonly Command[], key: unknown = ""): void {
  // The key says when they change.
  useEffect(() => addCommands(make()), [key]);
}

let first = "";
let firstAt = 0;

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
  if (typing(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const pair = event.timeStamp - firstAt < PAIR_MS ? `${first} ${event.key}` : undefined;
  first = "";
  const command = find(pair) ?? find(event.key);
  if (command) {
    event.preventDefault();
    command.run();
  } else if (commands.value.some(({ keys }) => keys?.startsWith(`${event.key} `) === true)) {
    first = event.key;
    firstAt = event.timeStamp;
  }
}

function find(keys: string | undefined): Command | undefined {
  return keys === undefined ? undefined : commands.value.findLast((command) => command.keys === keys);
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type)))
  );
}

export function listenToKeys(): void {
  addEventListener("keydown", onKey);
}

/** Puts the cursor into the page's search field: the one marked with `data-search`. */
export function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("[data-search]");
  field?.focus();
  field?.select();
}
