/** The embedded store. */
export {};
