/** Real processes, real stores, kill -9, partitions. */
export {};
