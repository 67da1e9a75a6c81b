/** The engine: the queue of one shard as a pure, deterministic machine. It does no I/O, reads no clock, and knows no shard. */
export {};
