/**
 * The one connection to the feed that all pages of the tab share. Pages say what they need for as long as they are shown; the connection is opened, widened
 * and closed accordingly, and after a loss it goes on where it was. What it learns it applies to the model; readers are woken once per animation frame.
 */
import { signal } from "@preact/signals";
import { asProblem, isAbort, type Problem } from "../../api/problem.ts";
import { events } from "../../api/event-stream.ts";
import type { FeedFrame, NodeReport } from "./frames.ts";
import { FleetModel } from "./model.ts";

export interface Need {
  readonly replicas: boolean;
  /** How this node is, too. */
  readonly node?: string | undefined;
}

export type LinkState =
  | { readonly kind: "closed" }
  | { readonly kind: "opening" }
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly problem: Problem }
  /** It makes no sense to try again: the token may not. */
  | { readonly kind: "refused"; readonly problem: Problem };

const RETRY_FIRST_MS = 500;
const RETRY_MS_MAX = 10_000;
/** A page that is left is often left for one that needs the same. */
const LINGER_MS = 5_000;

const UNSEEN_MS = 300;

/** Undefined until everything has been told once. */
export const model = signal<FleetModel | undefined>(undefined);
/** Rises when the model has changed. */
export const version = signal(0);
export const link = signal<LinkState>({ kind: "closed" });
export const report = signal<{ readonly node: string; readonly report: NodeReport | string } | undefined>(
  undefined,
);

const needs = new Set<Need>();
let open: { readonly need: Need; readonly controller: AbortController } | undefined;
let cursor: string | undefined;
/** What a snapshot under way is applied to, until it is whole. */
let filling: FleetModel | undefined;
let linger: ReturnType<typeof setTimeout> | undefined;
let woken = false;

/** Returns how to need it no more. */
export function need(what: Need): () => void {
  needs.add(what);
  settle();
  return () => {
    needs.delete(what);
    settle();
  };
}

function settle(): void {
  clearTimeout(linger);
  if (needs.size === 0) {
    linger = setTimeout(close, LINGER_MS);
    return;
  }
  // What was asked for once is kept up to date: to forget 100,000 replicas and ask for them again costs more.
  const replicas = (open?.need.replicas ?? false) || [...needs].some((one) => one.replicas);
  const node = [...needs].findLast((one) => one.node !== undefined)?.node;
  if (open?.need.replicas === replicas && open.need.node === node) return;
  if (open && open.need.replicas !== replicas) cursor = undefined;
  open?.controller.abort();
  open = { need: { replicas, node }, controller: new AbortController() };
  void follow(open.need, open.controller.signal);
}

function close(): void {
  open?.controller.abort();
  open = undefined;
  link.value = { kind: "closed" };
}

/** Forgets everything, as after signing out. */
export function forget(): void {
  close();
  cursor = undefined;
  filling = undefined;
  model.value = undefined;
}

async function follow(wanted: Need, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries++) {
    if (tries === 0 && link.value.kind !== "live") link.value = { kind: "opening" };
    try {
      const query = { replicas: wanted.replicas, node: wanted.node, after: cursor };
      for await (const frame of events<FeedFrame>("/v1/fleet/feed", { query, signal })) {
        if (signal.aborted) return;
        apply(frame, wanted);
        tries = 0;
      }
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      const problem = asProblem(error);
      if (problem.status === 401 || problem.status === 403 || problem.status === 404) {
        link.value = { kind: "refused", problem };
        return;
      }
      link.value = { kind: "lost", problem };
    }
    const ms = Math.min(RETRY_MS_MAX, RETRY_FIRST_MS * 2 ** tries) * (0.7 + 0.6 * Math.random());
    await new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  }
}

function apply(frame: FeedFrame, { replicas }: Need): void {
  switch (frame.kind) {
    case "reset":
      filling = new FleetModel(frame.fleet);
      filling.knowsReplicas = replicas;
      return;
    case "changes":
      (filling ?? model.peek())?.apply(frame);
      if (frame.cursor !== undefined) cursor = frame.cursor;
      if (filling) return;
      break;
    case "live":
      cursor = frame.cursor;
      if (filling) model.value = filling;
      filling = undefined;
      break;
    case "report":
      report.value = { node: frame.node, report: frame.report };
      return;
  }
  if (link.peek().kind !== "live") link.value = { kind: "live" };
  wake();
}

/** With the next picture; a page that nobody looks at gets none, and is still kept up to date. */
function wake(): void {
  if (woken) return;
  woken = true;
  const told = (): void => {
    if (!woken) return;
    woken = false;
    version.value++;
  };
  requestAnimationFrame(told);
  setTimeout(told, UNSEEN_MS);
}
