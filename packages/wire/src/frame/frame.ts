/**
 * What travels on a connection after the hellos. On the wire a frame is a 4-byte length and a msgpack array whose first element is
 * the kind's number; fields are told by position, and new ones are only ever added at the end. A reader ignores elements beyond
 * those it knows and kinds it does not know. docs/design/wire.md has the table.
 */
export const KIND = {
  hello: 0,
  request: 1,
  response: 2,
  failure: 3,
  cancel: 4,
  open: 5,
  item: 6,
  end: 7,
  credit: 8,
  ping: 9,
  pong: 10,
  goaway: 11,
} as const;

/** A unary call. `id` is the client's, unique on the connection while the call is in flight. */
export interface RequestFrame {
  readonly kind: typeof KIND.request;
  readonly id: number;
  readonly method: string;
  /** How long the caller will wait, counted from arrival. */
  readonly timeoutMs: number;
  readonly body: unknown;
  readonly trace: string | undefined;
}

interface ResponseFrame {
  readonly kind: typeof KIND.response;
  readonly id: number;
  readonly body: unknown;
}

/** Ends a call or a stream. */
interface FailureFrame {
  readonly kind: typeof KIND.failure;
  readonly id: number;
  readonly code: string;
  readonly message: string;
}

/** The caller no longer waits. No answer is owed. */
interface CancelFrame {
  readonly kind: typeof KIND.cancel;
  readonly id: number;
}

/** Asks for a stream; the server may send `credit` items before it hears more. */
export interface OpenFrame {
  readonly kind: typeof KIND.open;
  readonly id: number;
  readonly method: string;
  readonly credit: number;
  readonly body: unknown;
  readonly trace: string | undefined;
}

/** `seq` counts from 0 with no gap. */
interface ItemFrame {
  readonly kind: typeof KIND.item;
  readonly id: number;
  readonly seq: number;
  readonly body: unknown;
}

interface EndFrame {
  readonly kind: typeof KIND.end;
  readonly id: number;
}

/** The stream's reader took `n` more items. */
interface CreditFrame {
  readonly kind: typeof KIND.credit;
  readonly id: number;
  readonly n: number;
}

interface PingFrame {
  readonly kind: typeof KIND.ping;
  readonly nonce: number;
}

interface PongFrame {
  readonly kind: typeof KIND.pong;
  readonly nonce: number;
}

/** Send nothing new on this connection. What is in flight is still answered, unless the connection ends first. */
export interface GoawayFrame {
  readonly kind: typeof KIND.goaway;
  readonly code: string;
  readonly message: string;
}

export type Frame =
  | RequestFrame
  | ResponseFrame
  | FailureFrame
  | CancelFrame
  | OpenFrame
  | ItemFrame
  | EndFrame
  | CreditFrame
  | PingFrame
  | PongFrame
  | GoawayFrame;
