/** The command palette: everything the page can do or go to, found by typing. Sources beyond the commands (nodes, shards) add what they find. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useId, useMemo, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { commands, type Command } from "./shortcuts.ts";
import "./palette.css";

/** Finds commands for what was typed; called on each key, so it must be quick. */
export type Source = (typed: string) => readonly Command[];

const shown = signal(false);
const sources = new Set<Source>();
const resultsMax = 40;

export function openPalette(): void {
  shown.value = true;
}

/** Adds what can be found by typing; returns how to take it away. */
export function addSource(source: Source): () => void {
  sources.add(source);
  return () => void sources.delete(source);
}

/** Once on the page. */
export function Palette(): JSX.Element | null {
  return shown.value ? <Open /> : null;
}

function Open(): JSX.Element {
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const id = useId();
  const found = useMemo(() => find(typed), [typed]);
  const close = (): void => {
    shown.value = false;
  };
  const run = (command: Command | undefined): void => {
    if (!command) return;
    close();
    // After the window has gone, so that the focus it gives back does not undo what the command does.
    setTimeout(() => command.run());
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setActive(Math.min(found.length - 1, active + 1));
    else if (event.key === "ArrowUp") setActive(Math.max(0, active - 1));
    else if (event.key === "Enter") run(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to, or do" close={close} wide>
      <input
        class="palette-input"
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={`${id}-${active}`}
        aria-label="What to go to or do"
        placeholder="A page, a node, a shard, an action…"
        autocomplete="off"
        spellcheck={false}
        // It was opened to type into.
        autofocus
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKey}
      />
      <ul class="palette" role="listbox" id={id} aria-label="Found">
        {found.map((command, index) => (
          // The field above has the keys.
          <li
            key={`${command.group} ${command.title}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            ref={(element) => {
              if (index === active) element?.scrollIntoView({ block: "nearest" });
            }}
            onMouseMove={() => setActive(index)}
            onClick={() => run(command)}
          >
            <span class="grow cut">
              {command.title} {command.about !== undefined && <span class="muted">{command.about}</span>}
            </span>
            <span class="muted">{command.group}</span>
            {command.keys !== undefined && <Keys keys={command.keys} />}
          </li>
        ))}
        {found.length === 0 && <li class="muted">Nothing is called that.</li>}
      </ul>
    </Dialog>
  );
}

export function Keys({ keys }: { readonly keys: string }): JSX.Element {
  return (
    <span class="keys">
      {keys.split(" ").map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

/** All words must be in the title or what it says; titles that begin with the first come first. */
function find(typed: string): readonly Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const own = commands.value.filter(({ title, about = "", group }) => {
    const text = `${title} ${about} ${group}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const more = words.length === 0 ? [] : [...sources].flatMap((source) => source(typed.trim()));
  const starts = (command: Command): number =>
    command.title.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1;
  return [...own.sort((a, b) => starts(a) - starts(b)), ...more].slice(0, resultsMax);
}
