/** Lots that are being decided: who bids how much free memory, who passes and why, and who was awarded what. */
import type { JSX } from "preact";
import { Bar } from "../ui/bar.tsx";
import { Empty } from "../ui/empty.tsx";
import { formatBytes, plural } from "../ui/format.ts";
import type { FeedLot } from "./feed/frames.ts";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { NodeLink, ReplicaLink } from "./links.tsx";
import { StateMark } from "./state-mark.tsx";
import "./shard.css";

const LOTS_SHOWN = 60;
const ANSWERS_SHOWN = 8;

export default function AuctionsPage(): JSX.Element {
  return (
    <FleetPage
      title="Auctions"
      about={({ lots }) =>
        lots.size === 0 ? "nothing is being decided" : `${plural(lots.size, "lot")} open`
      }
      need={{ replicas: true }}
    >
      {(model, version) => <Lots model={model} version={version} />}
    </FleetPage>
  );
}

function Lots({ model, version }: Live): JSX.Element {
  const auctioned = model.services.filter(({ placement }) => placement.startsWith("auction"));
  const lots = [...model.lots.values()].sort((a, b) => a.replica - b.replica);
  if (lots.length === 0)
    return (
      <Empty title="No lot is open">
        {auctioned.length === 0
          ? "No service of this fleet is placed by auction."
          : "A replica of an auctioned service without a holder, or one that is to be moved, opens one."}
      </Empty>
    );
  return (
    <>
      <div class="replica-cards">
        {lots.slice(0, LOTS_SHOWN).map((lot) => (
          <Lot key={lot.replica} model={model} version={version} lot={lot} />
        ))}
      </div>
      {lots.length > LOTS_SHOWN && <p class="muted">And {plural(lots.length - LOTS_SHOWN, "more lot")}.</p>}
    </>
  );
}

function Lot({ model, lot }: Live & { readonly lot: FeedLot }): JSX.Element {
  const { replica, round, bids, passes, empties, last, award, move } = lot;
  const most = bids[0]?.freeBytes ?? 1;
  return (
    <section class="card stack tight" aria-label={`Lot ${model.nameOf(replica)}`}>
      <div class="row">
        <h2 class="grow cut">
          <ReplicaLink model={model} i={replica} />
        </h2>
        <StateMark state={model.stateOf(replica)} />
      </div>
      <p class="muted">
        Round {round}; {plural(bids.length, "bid")}, {plural(passes.length, "pass", "passes")}
        {empties > 0 ? `; nobody had room in ${plural(empties, "round")}` : ""}
      </p>
      {bids.slice(0, ANSWERS_SHOWN).map(({ node, freeBytes }) => (
        <div key={node} class="contender">
          <NodeLink node={node} />
          <Bar
            shares={[{ name: "free", value: freeBytes, colour: "accent" }]}
            total={most}
            label={`${formatBytes(freeBytes)} free`}
          />
          <span class="number">{formatBytes(freeBytes)}</span>
        </div>
      ))}
      {passes.length > 0 && (
        <ul class="why">
          {passes.slice(0, ANSWERS_SHOWN).map(({ node, reason }) => (
            <li key={node}>
              <NodeLink node={node} /> passes: {reason}
            </li>
          ))}
        </ul>
      )}
      {award && (
        <p>
          Awarded to <NodeLink node={award.node} />: {award.reason}
        </p>
      )}
      {move && (
        <p>
          To be moved, says {move.by}: {move.reason}
        </p>
      )}
      {last !== undefined && <p class="muted">Last round: {last}</p>}
    </section>
  );
}
