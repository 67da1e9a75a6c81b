/** Frames between nodes: request ids, deadlines, credit, cancel. */
export {};
