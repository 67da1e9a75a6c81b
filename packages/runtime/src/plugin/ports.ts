/** The ports of a process outside the kernel, named here so that a gateway needs the runtime only. */
export type { Clock, Epoch, ParsedKey, Random, Store, Timer } from "@keelson/kernel";
export type { HostPort } from "@keelson/wire";
export type { Logger } from "pino";
