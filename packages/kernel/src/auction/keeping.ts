import type { AuctionCommits } from "./commits.ts";
import type { Market } from "./market.ts";

/** A record that differs by less than this share is left as it is. */
const FOOTPRINT_CHANGE = 0.05;
/** Removals in one look; the rest has time. */
const TIDY_MAX = 32;

/** A holder tells how large what it prepared has become: the least that bids must have free from then on. */
export function keepFootprints(market: Market, commits: AuctionCommits, told: Set<string>): void {
  const { host, board, memory } = market;
  for (const local of host.locals()) {
    if (local.id.service !== market.service || !local.hold || local.hold.phase !== "live") continue;
    const bytes = memory.sizeOf(local.id.shard);
    const known = board.footprints.get(local.shardKey);
    const differs = known === undefined || Math.abs(known.value.bytes - bytes) > FOOTPRINT_CHANGE * bytes;
    if (!differs || told.has(local.shardKey)) continue;
    told.add(local.shardKey);
    const unread = board.unread.get(`footprint/${local.shardKey.slice(market.service.length + 1)}`);
    market.emit(
      "footprint",
      local.shardKey,
      commits.footprint(local.shardKey, { v: 1, bytes }, known?.revision ?? unread ?? 0),
    );
  }
}

/** An office that nobody can be said to hold is stood for by nobody: takes away what lies in its place. */
export function clearOffice(market: Market, commits: AuctionCommits): void {
  const revision = market.board.unread.get("evaluator");
  if (revision === undefined || !market.takesPart) return;
  market.emit("tidy", market.service, commits.remove("evaluator", "", revision));
}

/** Takes away what this node left lying: awards that are void or that it cannot live up to, and passes of rounds that are over. */
export function tidy(market: Market, commits: AuctionCommits, now: number): void {
  const { host, board } = market;
  const session = host.session(now);
  if (!session) return;
  let left = TIDY_MAX;
  for (const local of host.locals()) {
    const facts = host.facts.known(local.key);
    const award = facts?.award;
    if (local.id.service !== market.service || award?.value.session !== session.id) continue;
    const why =
      award.value.fromSession !== facts?.tenure?.value.session
        ? "done"
        : host.leavingSince !== undefined
          ? "it is leaving"
          : !local.hold && local.failures >= host.terms.opensTriesMax
            ? `it failed to open it ${local.failures} times`
            : undefined;
    if (why === undefined || left-- <= 0) continue;
    if (why !== "done") market.decide("refused", local.key, `gives the award back: ${why}`);
    market.emit("tidy", local.key, commits.remove("award", local.key, award.revision));
  }
  for (const replica of board.replicasWithPasses()) {
    const pass = board.passesOn(replica).get(host.self.node);
    if (pass?.value.session !== session.id || market.isCurrent({ ...pass.value, replica }) || left-- <= 0)
      continue;
    market.emit("tidy", replica, commits.remove("pass", `${replica}/${host.self.node}`, pass.revision));
  }
}
