/** Where the files of an answer are: repositories, languages, folders. A click writes the filter into the query, another takes it out. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useNarrow } from "../../ui/table.tsx";
import type { Facet, Facets } from "./code-api.ts";
import { folderFilter, hasFilter, languageFilter, repositoryFilter, toggleFilter } from "./query-filters.ts";

const SHOWN_FIRST = 8;

const KINDS = [
  { title: "Repository", list: "Repositories", filter: repositoryFilter, none: "" },
  { title: "Language", list: "Languages", filter: languageFilter, none: "" },
  { title: "Folder", list: "Folders", filter: folderFilter, none: "at the top" },
] as const;

export function FacetList({
  facets,
  query,
  change,
}: {
  readonly facets: Facets;
  readonly query: string;
  readonly change: (query: string) => void;
}): JSX.Element {
  const narrow = useNarrow();
  return (
    <details class="facets" open={!narrow}>
      <summary>Filters</summary>
      {KINDS.map(({ title, list, filter, none }) => (
        <FacetGroup
          key={title}
          title={title}
          facets={facets[list].filter(({ Name }) => Name !== "" || none !== "")}
          none={none}
          isOn={(name) => hasFilter(query, filter(name))}
          toggle={(name) => change(toggleFilter(query, filter(name)))}
        />
      ))}
      {!facets.Exact && <p class="muted">Many files match: some are not counted here.</p>}
    </details>
  );
}

function FacetGroup({
  title,
  facets,
  none,
  isOn,
  toggle,
}: {
  readonly title: string;
  readonly facets: readonly Facet[];
  readonly none: string;
  readonly isOn: (name: string) => boolean;
  readonly toggle: (name: string) => void;
}): JSX.Element | null {
  const [all, setAll] = useState(false);
  if (facets.length === 0) return null;
  const shown = all ? facets : facets.slice(0, SHOWN_FIRST);
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {shown.map(({ Name, Files }) => (
          <li key={Name}>
            <button type="button" class="plain facet" aria-pressed={isOn(Name)} onClick={() => toggle(Name)}>
              <span class="cut grow">{Name === "" ? none : Name}</span>
              <span class="number muted">{Files}</span>
            </button>
          </li>
        ))}
      </ul>
      {facets.length > shown.length && (
        <button type="button" class="plain facet muted" onClick={() => setAll(true)}>
          {facets.length - shown.length} more
        </button>
      )}
    </section>
  );
}
