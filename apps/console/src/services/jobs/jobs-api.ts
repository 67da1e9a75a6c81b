/** What the gateway answers about jobs, as these pages use it, and where their addresses are. */
import { get, path, request } from "../../api/request.ts";

export const STATUSES = ["scheduled", "running", "succeeded", "failed", "cancelled"] as const;
export type JobStatus = (typeof STATUSES)[number];
type Counts = Readonly<Record<JobStatus, number>>;

export interface Attempt {
  readonly number: number;
  readonly startedAtMs: number;
  readonly finishedAtMs?: number;
  readonly worker: string;
  readonly outcome?: string;
  readonly result?: unknown;
  readonly code?: string;
  readonly data?: unknown;
}

/** What the three kinds of limit call themselves and how much they allow. */
interface JobLimit {
  readonly kind: string;
  readonly key?: string;
  readonly name?: string;
  readonly max?: number;
  readonly defaultMax?: number;
  readonly limit?: number;
}

export interface Job {
  readonly id: string;
  readonly tenant: string;
  readonly group: string;
  readonly status: JobStatus;
  readonly statusAtMs: number;
  readonly enqueuedAtMs: number;
  readonly startAtMs: number;
  readonly waitsFor?: string;
  readonly priority: number;
  readonly payload: unknown;
  readonly metadata: Readonly<Record<string, string>>;
  readonly attempts: readonly Attempt[];
  readonly lostLeases: number;
  readonly cancelledAtMs?: number;
  readonly expiresAtMs?: number;
  readonly progress?: unknown;
  readonly retry?: { readonly retries: number };
  readonly limits?: readonly JobLimit[];
  readonly timeoutMs?: number;
  readonly after?: readonly string[];
}

export interface Stats {
  readonly jobs: Counts;
  readonly tenants: number;
  readonly leases: number;
  readonly schedules: number;
}

export interface Group {
  readonly group: string;
  readonly paused: boolean;
  readonly ready: number;
  readonly running: number;
  readonly tenants: readonly { readonly tenant: string; readonly ready: number; readonly running: number }[];
}

export interface Point extends Counts {
  readonly atMs: number;
  readonly waitMsP50?: number;
  readonly waitMsP99?: number;
  readonly runMsP50?: number;
  readonly runMsP99?: number;
}

export interface History {
  readonly stepMs: number;
  readonly points: readonly Point[];
}

export interface Schedule {
  readonly id: string;
  readonly tenant: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: string;
  readonly nextAtMs?: number;
  readonly job: { readonly group: string; readonly payload: unknown };
}

export interface Tenant {
  readonly tenant: string;
  readonly weight: number;
  readonly paused: boolean;
  readonly schedules: number;
  readonly jobs: Counts;
}

export interface Limit {
  readonly kind: string;
  readonly key: string;
  readonly max: number;
  readonly held: number;
  readonly waiting: number;
}

/** Undefined fields: nothing of the tenant is in memory. */
export interface TenantDetails extends Partial<Tenant> {
  readonly tenant: string;
  readonly shard: string;
  readonly limits: readonly Limit[];
}

export function readJob(tenant: string, id: string, signal: AbortSignal): Promise<Job> {
  return get<Job>(path`/v1/jobs/tenants/${tenant}/jobs/${id}`, {}, signal);
}

export type Steering = "cancel" | "restart" | "expedite";

export async function steer(action: Steering | "delete", tenant: string, id: string): Promise<void> {
  const one = path`/v1/jobs/tenants/${tenant}/jobs/${id}`;
  await (action === "delete" ? request("DELETE", one) : request("POST", `${one}/${action}`));
}

export interface BulkAnswer {
  readonly done: number;
  readonly refused: readonly { readonly id: string; readonly message: string }[];
  readonly more: boolean;
  readonly next?: string;
}

export function bulk(tenant: string, body: Readonly<Record<string, unknown>>): Promise<BulkAnswer> {
  return request<BulkAnswer>("POST", path`/v1/jobs/tenants/${tenant}/bulk`, { body });
}

export function jobHref({ tenant, id }: { readonly tenant: string; readonly id: string }): string {
  return path`/console/jobs/tenants/${tenant}/jobs/${id}`;
}

export function tenantHref(tenant: string): string {
  return path`/console/jobs/tenants/${tenant}`;
}

/** The list of jobs, narrowed down. */
export function jobsHref(filter: { tenant?: string; status?: JobStatus; group?: string }): string {
  const search = new URLSearchParams(filter).toString();
  return `/console/jobs/jobs${search === "" ? "" : `?${search}`}`;
}
