/** Shows the page of a service that an address names: the service's own drawing of it, or the plain one made from its declaration. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import { asProblem, type Problem } from "../api/problem.ts";
import { session } from "../api/session.ts";
import { Empty } from "../ui/empty.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { matchPath } from "./match-path.ts";
import { ownPages, type ServicePages } from "./pages.ts";
import { PlainPage } from "./plain-page.tsx";

const loaded = new Map<string, ServicePages>();

export default function ServicePageHost({
  params,
}: {
  readonly params: { readonly service: string };
}): JSX.Element {
  const { service } = params;
  const { path, query } = useLocation();
  const load = ownPages(service);
  const [pages, setPages] = useState<ServicePages | undefined>(() => loaded.get(service));
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    setPages(loaded.get(service));
    setProblem(undefined);
    if (!load || loaded.has(service)) return;
    load().then(
      (found) => {
        loaded.set(service, found);
        setPages(found);
      },
      (error: unknown) => setProblem(asProblem(error)),
    );
  }, [service]);

  const declared = session.value?.services.find(({ name }) => name === service);
  if (!declared)
    return (
      <Empty title={`There is no service ${service}`}>This gateway does not serve one of that name.</Empty>
    );
  if (problem) return <ProblemNote problem={problem} />;
  if (load && !pages) return <div class="skeleton" />;
  for (const page of pages?.pages ?? []) {
    const found = matchPath(`/console/${service}/${page.path ?? page.id}`, path);
    if (found) {
      const Page = page.component;
      return <Page params={found} query={query} />;
    }
  }
  const id = path.split("/")[3] ?? "";
  const plain = declared.pages.find((page) => page.id === id) ?? declared.pages[0];
  if (plain) return <PlainPage service={service} page={plain} />;
  return <Empty title={`${service} has no such page`}>{declared.about}</Empty>;
}
