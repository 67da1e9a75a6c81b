/**
 * One shard: who holds each replica, since when, why, and what happened to it. The feed says what is; the explanation, which nodes are asked for, says why,
 * and is asked for again when the feed shows that something is different.
 */
import type { JSX } from "preact";
import { get, path } from "../api/request.ts";
import { Empty } from "../ui/empty.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { useAnswer } from "../ui/use-answer.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { retry } from "./actions.tsx";
import type { ShardExplanation } from "./explanation.ts";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { NodeLink } from "./links.tsx";
import { ReplicaCard } from "./replica-card.tsx";
import { ShardHistory } from "./shard-history.tsx";
import "./overview.css";
import "./shard.css";

export default function ShardPage({
  params,
}: {
  readonly params: { readonly service: string; readonly shard: string };
}): JSX.Element {
  const { service, shard } = params;
  return (
    <FleetPage
      title={`${service}/${shard}`}
      about={(model) => {
        const { placement, view } = model.services.find((one) => one.service === service) ?? {};
        return placement === undefined ? "" : `placed by ${placement}, view ${view}`;
      }}
      need={{ replicas: true }}
    >
      {(model, version) => <Shard model={model} version={version} service={service} shard={shard} />}
    </FleetPage>
  );
}

function Shard({
  model,
  version,
  service,
  shard,
}: Live & { readonly service: string; readonly shard: string }): JSX.Element {
  const rows = model.replicasOf(service, shard);
  // Whatever of it changes in the feed may have another reason now.
  const key = rows
    .map(
      (i) =>
        `${model.state[i]} ${model.holder[i]} ${model.revision[i]} ${model.target[i]} ${model.strikes[i]} ${
          model.contenders
            .get(i)
            ?.map(([node, phase]) => `${node}${phase}`)
            .join() ?? ""
        }`,
    )
    .join(";");
  const pins = model.pins.filter((one) => one.service === service && one.shard === shard);
  const { value, problem, again } = useAnswer(
    `${service}/${shard} ${key} ${pins.map(({ node, kept }) => `${node}${kept}`).join()}`,
    (signal) => get<ShardExplanation>(path`/v1/fleet/shards/${service}/${shard}`, undefined, signal),
    `${service}/${shard}`,
  );
  if (rows.length === 0)
    return <Empty title="There is no such shard">{`The view of ${service} does not list it.`}</Empty>;
  const trouble = value?.trouble;
  return (
    <>
      {trouble && (
        <div class={trouble.quarantined ? "note error" : "note warning"}>
          <p>
            <strong>{trouble.quarantined ? "Quarantined." : "In trouble."}</strong> {trouble.text}
          </p>
          <ActionButton service="fleet" scope="admin" onClick={() => retry(service, shard, trouble.strikes)}>
            Retry…
          </ActionButton>
        </div>
      )}
      {value?.primary && (
        <p class="muted">
          <NodeLink node={value.primary.node} /> has the primary: replica {value.primary.replica}, write epoch{" "}
          {value.primary.epoch.era}.{value.primary.epoch.revision}.
        </p>
      )}
      <div class="replica-cards">
        {rows.map((i) => (
          <ReplicaCard
            key={i}
            model={model}
            version={version}
            i={i}
            why={value?.replicas.find(({ replica }) => replica === model.replica[i])}
            several={rows.length > 1}
          />
        ))}
      </div>
      {problem && <ProblemNote problem={problem} again={again} />}
      <ShardHistory model={model} version={version} service={service} shard={shard} why={value} />
    </>
  );
}
