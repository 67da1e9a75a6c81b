/** Chooses a node by typing a part of its name: a fleet has up to a thousand. */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";

const SHOWN_MAX = 200;

export function NodePicker({
  nodes,
  chosen,
  open,
}: {
  readonly nodes: readonly string[];
  readonly chosen: Signal<string>;
  /** What it means to choose none; left out, one must be chosen. */
  readonly open?: string;
}): JSX.Element {
  const id = useId();
  return (
    <label class="field">
      Node
      <input
        list={id}
        name="node"
        value={chosen.value}
        required={open === undefined}
        placeholder={open ?? ""}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          chosen.value = event.currentTarget.value.trim();
        }}
      />
      <datalist id={id}>
        {nodes.slice(0, SHOWN_MAX).map((node) => (
          <option key={node} value={node} />
        ))}
      </datalist>
    </label>
  );
}
