/** A page's filters in its address, so that what is seen can be sent to somebody. Typing replaces the address, and leaves no trail to go back through. */
import { useLocation } from "preact-iso";

export interface QueryState {
  readonly query: Readonly<Record<string, string>>;
  /** An empty text takes the name out. */
  readonly set: (changes: Readonly<Record<string, string>>) => void;
}

export function useQuery(): QueryState {
  const { path, query, route } = useLocation();
  return {
    query,
    set: (changes) => {
      const search = new URLSearchParams(query);
      for (const [name, value] of Object.entries(changes))
        if (value === "") search.delete(name);
        else search.set(name, value);
      const text = search.toString();
      route(text === "" ? path : `${path}?${text}`, true);
    },
  };
}
