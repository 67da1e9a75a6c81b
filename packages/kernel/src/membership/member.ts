/** What a node says of itself in `member/<node>`. Bound to its membership session: the key's absence means it left or was lost. */
export interface Member {
  readonly v: 1;
  readonly node: string;
  /** Random per process; tells a restarted node from its former self. */
  readonly boot: string;
  /** `host:port` where its wire server listens. */
  readonly address: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capabilities: readonly string[];
  /** Software version. */
  readonly version: string;
  readonly protocol: ProtocolRange;
  /** Relative share of shards it should hold; 1 is an ordinary node, 0 holds nothing. */
  readonly capacity: number;
  /** Wall clock, for people. */
  readonly startedAt: number;
  readonly services: readonly string[];
  readonly liveness: string;
  readonly membership: string;
}

/** The lowest and the highest protocol version a member speaks. */
export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}
