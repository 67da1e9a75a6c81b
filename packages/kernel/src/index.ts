/** The decisions of a fleet, and nothing else: no I/O, no clock, no randomness. */
export {};
