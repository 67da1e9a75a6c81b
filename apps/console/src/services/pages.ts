/**
 * What a service brings to the console: `src/services/<name>/index.ts` exports it by default, and is loaded when one of its pages is first
 * opened. Which services and pages there are is what their plug-ins declare; this says how they are drawn.
 */
import type { ComponentType } from "preact";

export interface ServicePages {
  readonly pages: readonly ServicePage[];
}

interface ServicePage {
  /** The id that the plug-in declares; a page with another id is reached by links only. */
  readonly id: string;
  /** Below `/console/<service>/`, a name after a colon takes one segment, with a star the rest: `files/:repository/:path*`. The id when left out. */
  readonly path?: string;
  readonly component: ComponentType<ServicePageProps>;
}

/** What the router gives a page: the parameters of its path and of the query. */
export interface ServicePageProps {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

const own = import.meta.glob<{ readonly default: ServicePages }>("./*/index.{ts,tsx}");

/** How to load the pages that were written for a service; undefined when nobody has, and the plain ones are shown. */
export function ownPages(service: string): (() => Promise<ServicePages>) | undefined {
  const load = own[`./${service}/index.ts`] ?? own[`./${service}/index.tsx`];
  return load && (async () => (await load()).default);
}
