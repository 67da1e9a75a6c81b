/** Drivers that carry the kernel's decisions out: host, manager, router. */
export {};
