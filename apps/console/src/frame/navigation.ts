/** Where one can go: the fleet's own pages, then those that services declare. The menu, the palette and the keyboard are made from this. */
import { computed } from "@preact/signals";
import { session } from "../api/session.ts";
import { ownPages } from "../services/pages.ts";

interface Place {
  readonly href: string;
  readonly title: string;
  readonly about: string;
  readonly keys?: string;
}

export interface PlaceGroup {
  readonly title: string;
  readonly places: readonly Place[];
}

const FLEET: readonly Place[] = [
  { href: "/console/", title: "Overview", about: "health in one look", keys: "g o" },
  { href: "/console/map", title: "Map", about: "nodes and shards, as they move", keys: "g m" },
  { href: "/console/nodes", title: "Nodes", about: "members and what they hold", keys: "g n" },
  { href: "/console/shards", title: "Shards", about: "who holds what, and why", keys: "g s" },
  { href: "/console/moves", title: "Hand-overs", about: "what moves, and how far it is", keys: "g h" },
  { href: "/console/auctions", title: "Auctions", about: "who bids for what", keys: "g a" },
  { href: "/console/events", title: "Events", about: "what happened", keys: "g e" },
  { href: "/console/alerts", title: "Alerts", about: "what needs a person", keys: "g l" },
];

const ACCESS: readonly Place[] = [
  { href: "/console/tokens", title: "Tokens", about: "who may do what", keys: "g t" },
  { href: "/console/audit", title: "Audit", about: "who did what, and who tried", keys: "g u" },
];

/** Keys of services' first pages, where they are free. */
const SERVICE_KEYS: Readonly<Record<string, string>> = { code: "g c", jobs: "g j" };

export const groups = computed<readonly PlaceGroup[]>(() => {
  const services = session.value?.services ?? [];
  return [
    { title: "Fleet", places: FLEET },
    ...services
      .filter(({ name, pages }) => pages.length > 0 || ownPages(name) !== undefined)
      .map(({ name, pages }) => ({
        title: name,
        places: pages.map(({ id, title, about }, index) => ({
          href: `/console/${name}/${id}`,
          title,
          about,
          ...(index === 0 && SERVICE_KEYS[name] !== undefined ? { keys: SERVICE_KEYS[name] } : {}),
        })),
      })),
    ...(session.value?.principal.scope === "admin" ? [{ title: "Access", places: ACCESS }] : []),
  ];
});
