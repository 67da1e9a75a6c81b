/** The memory store. */
export {};
