/** What an operator can ask of the fleet: each action asks first, keeps the reason, and says what was done. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { get, path, request } from "../api/request.ts";
import { confirm } from "../ui/confirm.tsx";
import { formatCount, plural } from "../ui/format.ts";
import { useAnswer } from "../ui/use-answer.ts";
import { NodePicker } from "./node-picker.tsx";

interface Done {
  readonly done: string;
  readonly already: boolean;
}

interface Forecast {
  readonly services: readonly {
    readonly service: string;
    readonly movesTotal: number;
    readonly note?: string;
    readonly nodes: readonly { readonly node: string; readonly before: number; readonly after: number }[];
  }[];
}

async function said(doing: Promise<Done>): Promise<string> {
  const { done, already } = await doing;
  // It begins with the name of a node or a shard, which is spelt as it is.
  return already ? `Done before: ${done}.` : `Done: ${done}.`;
}

export function drain(node: string): void {
  confirm({
    title: `Drain ${node}?`,
    text: <DrainForecast node={node} />,
    action: "Drain",
    danger: true,
    reason: true,
    run: (reason) => said(request<Done>("PUT", path`/v1/fleet/drains/${node}`, { body: { reason } })),
  });
}

function DrainForecast({ node }: { readonly node: string }): JSX.Element {
  const { value, problem } = useAnswer(node, (signal) =>
    get<Forecast>("/v1/fleet/plan", { without: node }, signal),
  );
  const moves = value?.services.reduce((sum, { movesTotal }) => sum + movesTotal, 0);
  return (
    <div class="stack tight">
      <p>
        It hands over everything it holds, one after the other and without a gap, and takes nothing until it
        is undrained. It stays a member.
      </p>
      <p class="muted" aria-live="polite">
        {problem
          ? "What would move cannot be said now."
          : moves === undefined
            ? "Working out what would move…"
            : `${plural(moves, "replica")} would move${value?.services.some(({ note }) => note !== undefined) === true ? ", as far as can be said" : ""}.`}
      </p>
    </div>
  );
}

export function undrain(node: string): void {
  confirm({
    title: `Undrain ${node}?`,
    text: "It takes its share again, as the placement of each service decides.",
    action: "Undrain",
    run: () => said(request<Done>("DELETE", path`/v1/fleet/drains/${node}`)),
  });
}

export interface ReplicaName {
  readonly service: string;
  readonly shard: string;
  readonly replica: number;
}

export function pin(about: ReplicaName, nodes: readonly string[], holder: string | undefined): void {
  const chosen = signal(holder ?? nodes[0] ?? "");
  confirm({
    title: `Pin ${about.service}/${about.shard}?`,
    text: (
      <div class="stack tight">
        <p>The replica is moved to the node, if it is elsewhere, and stays there until it is unpinned.</p>
        <NodePicker nodes={nodes} chosen={chosen} />
      </div>
    ),
    action: "Pin",
    reason: true,
    run: (reason) =>
      said(
        request<Done>("PUT", path`/v1/fleet/pins/${about.service}/${about.shard}`, {
          body: { reason, node: chosen.value, replica: about.replica },
        }),
      ),
  });
}

export function unpin({ service, shard }: ReplicaName, replica: number | undefined): void {
  confirm({
    title: `Unpin ${service}/${shard}?`,
    text: "The placement decides again where it is.",
    action: "Unpin",
    run: () =>
      said(request<Done>("DELETE", path`/v1/fleet/pins/${service}/${shard}`, { query: { replica } })),
  });
}

export function move(about: ReplicaName, nodes: readonly string[], chooses: boolean): void {
  const chosen = signal(chooses ? "" : (nodes[0] ?? ""));
  confirm({
    title: `Move ${about.service}/${about.shard}?`,
    text: (
      <div class="stack tight">
        <p>It is handed over once, without a gap. Later the placement may move it on.</p>
        <NodePicker
          nodes={nodes}
          chosen={chosen}
          {...(chooses ? { open: "where the auction decides" } : {})}
        />
      </div>
    ),
    action: "Move",
    reason: true,
    run: (reason) =>
      said(
        request<Done>("POST", path`/v1/fleet/moves/${about.service}/${about.shard}`, {
          body: {
            reason,
            replica: about.replica,
            ...(chosen.value === "" ? {} : { node: chosen.value }),
          },
        }),
      ),
  });
}

export function retry(service: string, shard: string, strikes: number): void {
  confirm({
    title: `Retry ${service}/${shard}?`,
    text: `What is held against it (${plural(strikes, "strike")}) is forgotten, and nodes try to open it again. Mend the cause first: otherwise it fails ${formatCount(strikes)} more times.`,
    action: "Retry",
    run: () => said(request<Done>("DELETE", path`/v1/fleet/troubles/${service}/${shard}`)),
  });
}
