/** The symbols of a file, in the order of its text: what it defines, with a filter, each a link to its line. */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CodeSymbol } from "./code-api.ts";
import { useNarrow } from "../../ui/table.tsx";

const SHOWN_MAX = 500;

export function Outline({
  symbols,
  line,
  go,
}: {
  readonly symbols: readonly CodeSymbol[];
  /** The line that is chosen: the symbol it lies in is marked. */
  readonly line: number | undefined;
  readonly go: (line: number) => void;
}): JSX.Element {
  const [filter, setFilter] = useState("");
  const narrow = useNarrow();
  const found = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    return symbols.filter(({ Sym }) => Sym.toLowerCase().includes(wanted));
  }, [symbols, filter]);
  const around = line === undefined ? undefined : symbols.findLast(({ Line }) => Line <= line);
  return (
    <details class="outline" open={!narrow}>
      <summary>
        Symbols <span class="muted">{symbols.length}</span>
      </summary>
      {symbols.length > 8 && (
        <input
          type="search"
          aria-label="Filter symbols"
          placeholder="Filter"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      )}
      <ul>
        {found.slice(0, SHOWN_MAX).map((symbol, index) => (
          <li key={index}>
            <button
              type="button"
              class={`plain symbol ${symbol.Parent === "" ? "" : "inner"}`}
              aria-current={symbol === around ? "location" : undefined}
              onClick={() => go(symbol.Line)}
            >
              <code class="cut grow">{symbol.Sym}</code>
              <span class="muted">{symbol.Kind}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_MAX && <p class="muted">{found.length - SHOWN_MAX} more: filter them.</p>}
      {symbols.length === 0 && <p class="muted">None are known.</p>}
    </details>
  );
}
