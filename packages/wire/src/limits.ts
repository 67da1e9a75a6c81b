/**
 * Every bound of a connection, with its unit in its name. One object serves both sides; each side reads what concerns it.
 * The defaults are for a fleet of 1,000 nodes; docs/design/wire.md gives the reason for each.
 */
export interface WireLimits {
  /** A frame's length, prefix not counted. Both sides refuse to send and to receive more. */
  readonly frameBytesMax: number;
  /** From connecting until the other side's hello. */
  readonly helloTimeoutMs: number;
  /** Silence after which a side that waits for something asks whether the other is there. */
  readonly pingAfterMs: number;
  /** The same while nothing is in flight. */
  readonly idlePingAfterMs: number;
  /** An unanswered ping ends the connection after this. */
  readonly pongWithinMs: number;
  /** How often silence and, on the server, deadlines are looked at. */
  readonly tickMs: number;
  /** How long a connection that is being ended may take to hand over its last frames. */
  readonly lingerMs: number;

  readonly connectionsMax: number;
  readonly inflightPerConnectionMax: number;
  readonly inflightMax: number;
  /** Request frames that handlers are still working on, together. */
  readonly inflightBytesMax: number;
  readonly streamsPerConnectionMax: number;
  /** Items that wait for credit, per stream. */
  readonly streamBufferItemsMax: number;
  readonly streamBufferBytesMax: number;
  /** Unsent bytes at which a server stops reading from a connection, and a stream stops sending on it. */
  readonly sendBufferBytesHigh: number;
  /** Unsent bytes at which a server ends the connection, and a client refuses further calls. */
  readonly sendBufferBytesMax: number;

  /** Items a client lets a stream be ahead of its sink. */
  readonly streamWindowItems: number;
  /** Calls that one client has in flight or waiting for its connection. */
  readonly callsMax: number;
  /** Waits between attempts to connect. */
  readonly reconnectFirstMs: number;
  readonly reconnectMaxMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: WireLimits = {
  frameBytesMax: 16 * MIB,
  helloTimeoutMs: 3_000,
  pingAfterMs: 1_000,
  idlePingAfterMs: 15_000,
  pongWithinMs: 3_000,
  tickMs: 250,
  lingerMs: 1_000,
  connectionsMax: 4_096,
  inflightPerConnectionMax: 4_096,
  inflightMax: 16_384,
  inflightBytesMax: 256 * MIB,
  streamsPerConnectionMax: 256,
  streamBufferItemsMax: 1_024,
  streamBufferBytesMax: 16 * MIB,
  sendBufferBytesHigh: 1 * MIB,
  sendBufferBytesMax: 64 * MIB,
  streamWindowItems: 256,
  callsMax: 8_192,
  reconnectFirstMs: 50,
  reconnectMaxMs: 2_000,
};

/** The defaults with some of them replaced. Throws on a limit that is not a positive number. */
export function wireLimits(some: Partial<WireLimits> = {}): WireLimits {
  for (const [name, value] of Object.entries(some)) {
    if (!(value > 0)) throw new RangeError(`wire limit ${name} must be a positive number, not ${value}`);
  }
  const limits = { ...DEFAULT_LIMITS, ...some };
  // A socket announces that it takes bytes again only after it held at least its own high-water mark.
  if (limits.sendBufferBytesHigh < 65_536)
    throw new RangeError("wire limit sendBufferBytesHigh must be at least 65536");
  return limits;
}
