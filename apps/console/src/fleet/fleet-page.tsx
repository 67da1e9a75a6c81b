/** A page that lives on the feed: its head, what is wrong with the connection, and its body once the fleet is known. */
import type { ComponentChildren, JSX } from "preact";
import { Page } from "../ui/page.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import type { FleetModel } from "./feed/model.ts";
import { useFleet } from "./feed/use-fleet.ts";
import type { Need } from "./feed/connection.ts";

export function FleetPage({
  title,
  about,
  need,
  actions,
  children,
}: {
  readonly title: string;
  readonly about?: (model: FleetModel) => ComponentChildren;
  readonly need: Need;
  readonly actions?: (model: FleetModel) => ComponentChildren;
  readonly children: (model: FleetModel, version: number) => ComponentChildren;
}): JSX.Element {
  const { model, version, link } = useFleet(need);
  return (
    <Page title={title} about={model ? about?.(model) : " "} actions={model && actions?.(model)}>
      {link.kind === "refused" && <ProblemNote problem={link.problem} />}
      {link.kind === "lost" && (
        <div class="note warning" role="status">
          <p>The connection to the gateway is lost; it is being tried again.</p>
          {model && <p class="muted">What is shown here is what was last known.</p>}
        </div>
      )}
      {model ? children(model, version) : link.kind === "refused" ? null : <Waiting />}
    </Page>
  );
}

function Waiting(): JSX.Element {
  return (
    <div class="stack" aria-busy="true" aria-label="Loading the fleet">
      <div class="skeleton" />
      <div class="skeleton" />
      <div class="skeleton" />
    </div>
  );
}
