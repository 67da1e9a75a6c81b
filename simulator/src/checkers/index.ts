import { AnswerEpochChecker } from "./answer-epoch.ts";
import { AuctionRulesChecker } from "./auction/auction-rules.ts";
import { BalanceChecker } from "./auction/balance.ts";
import { MemoryChecker } from "./auction/memory.ts";
import { PromisesChecker } from "./auction/promises.ts";
import { PromptnessChecker } from "./auction/promptness.ts";
import { StarvationChecker } from "./auction/starvation.ts";
import type { Checker, Scene } from "./checker.ts";
import { ConvergedChecker } from "./converged.ts";
import { DrainedChecker } from "./drained.ts";
import { EpochsRiseChecker } from "./epochs-rise.ts";
import { HeldAgainChecker } from "./held-again.ts";
import { IncarnationChecker } from "./incarnation.ts";
import { LeavingChecker } from "./leaving.ts";
import { LevelChecker } from "./level.ts";
import { LostUpdateChecker } from "./lost-update.ts";
import { MovesChecker } from "./moves.ts";
import { OverlapChecker } from "./overlap.ts";
import { PlannedChecker } from "./planned.ts";
import { PrimariesChecker } from "./primaries.ts";
import { StaleEpochChecker } from "./stale-epoch.ts";
import { StaleReadChecker } from "./stale-read.ts";
import { SuccessionChecker } from "./succession.ts";
import { ViewsChecker } from "./views.ts";

/** All checkers by name, in the order in which they are told of an event. */
const CHECKERS = {
  overlap: OverlapChecker,
  "stale-epoch": StaleEpochChecker,
  "lost-update": LostUpdateChecker,
  "stale-read": StaleReadChecker,
  "answer-epoch": AnswerEpochChecker,
  "epochs-rise": EpochsRiseChecker,
  succession: SuccessionChecker,
  incarnation: IncarnationChecker,
  primaries: PrimariesChecker,
  drained: DrainedChecker,
  leaving: LeavingChecker,
  "held-again": HeldAgainChecker,
  views: ViewsChecker,
  moves: MovesChecker,
  converged: ConvergedChecker,
  level: LevelChecker,
  planned: PlannedChecker,
  auctions: AuctionRulesChecker,
  starvation: StarvationChecker,
  memory: MemoryChecker,
  promises: PromisesChecker,
  balance: BalanceChecker,
  promptness: PromptnessChecker,
} as const satisfies Record<string, new (scene: Scene) => Checker>;

export type CheckerName = keyof typeof CHECKERS;

export const CHECKER_NAMES = Object.keys(CHECKERS) as CheckerName[];

export function makeCheckers(names: readonly CheckerName[], scene: Scene): Checker[] {
  return names.map((name) => new CHECKERS[name](scene));
}
