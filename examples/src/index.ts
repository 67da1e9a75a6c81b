/** A sixth service in under 100 lines, and others. */
export {};
