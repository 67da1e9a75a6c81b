/** Every time and limit of the ownership protocol, with its unit in its name. What each is for: docs/design/protocol.md, section 13. */
export interface Terms {
  readonly ttlMs: number;
  readonly renewMs: number;
  readonly renewTimeoutMs: number;
  readonly renewRetryMs: number;
  readonly marginMs: number;
  /** No session of the fleet has a longer TTL; a closed era waits this long. */
  readonly ttlMsMax: number;
  readonly commitTimeoutMs: number;
  readonly takeoverStepMs: number;
  readonly promoteStepMs: number;
  readonly viewStepMs: number;
  readonly joinBrieflyMs: number;
  readonly gatherMs: number;
  readonly drainMs: number;
  readonly leaveReadyMs: number;
  readonly noContenderMs: number;
  readonly unsureMs: number;
  readonly parkedMax: number;
  readonly opensMax: number;
  readonly activationsMax: number;
  readonly openJitterMs: number;
  readonly activateMs: number;
  readonly closeMs: number;
  readonly opensTriesMax: number;
  readonly youngMs: number;
  readonly strikeBackoffMs: number;
  readonly isolateStrikes: number;
  readonly quarantineStrikes: number;
  readonly quarantineMs: number;
  readonly relistMs: number;
  readonly movesMax: number;
}

/** The defaults, scaled from the TTL where they follow from it. */
export function terms(given: Partial<Terms> = {}): Terms {
  const ttlMs = given.ttlMs ?? 10_000;
  const renewMs = given.renewMs ?? ttlMs / 5;
  return {
    ttlMs,
    renewMs,
    renewTimeoutMs: renewMs,
    renewRetryMs: renewMs / 4,
    marginMs: 50,
    ttlMsMax: ttlMs,
    commitTimeoutMs: 2_000,
    takeoverStepMs: 300,
    promoteStepMs: 300,
    viewStepMs: 100,
    joinBrieflyMs: 500,
    gatherMs: 100,
    drainMs: 5_000,
    leaveReadyMs: 30_000,
    noContenderMs: 5_000,
    unsureMs: 2_000,
    parkedMax: 1_024,
    opensMax: 8,
    activationsMax: 64,
    openJitterMs: 20,
    activateMs: 30_000,
    closeMs: 10_000,
    opensTriesMax: 3,
    youngMs: 10_000,
    strikeBackoffMs: 250,
    isolateStrikes: 3,
    quarantineStrikes: 5,
    quarantineMs: 600_000,
    relistMs: 300_000,
    movesMax: 64,
    ...given,
  };
}
