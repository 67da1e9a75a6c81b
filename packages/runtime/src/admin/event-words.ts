/** Turns a change of a key into an event that a person understands; undefined for changes that are steps on the way. */
import {
  describeTrouble,
  type EraRecord,
  type ImageChange,
  type Keys,
  type ManagerRecord,
  type Member,
  type PinWish,
  type ProtocolRecord,
  type Tenure,
  type Trouble,
  type View,
  type Wish,
} from "@keelson/kernel";
import type { FleetEvent } from "./contract.ts";

type Words = Omit<FleetEvent, "seq" | "at">;

export function eventOf(keys: Keys, change: ImageChange): Words | undefined {
  const parsed = keys.parse(change.key);
  if (!parsed) return undefined;
  const { kind, rest } = parsed;
  // Steps on the way to a tenure, and some of them may be of another version.
  if (kind === "auction") return undefined;
  const now = change.entry && (JSON.parse(change.entry.value) as unknown);
  const before = change.before && (JSON.parse(change.before.value) as unknown);
  switch (kind) {
    case "member":
      return memberEvent(rest, now as Member | undefined, before as Member | undefined, change.expired);
    case "view": {
      const view = now as View | undefined;
      return view && { kind: "view", about: rest, text: `view ${view.n} of ${rest}: ${view.reason}` };
    }
    case "plan":
      return { kind: "plan", about: rest, text: `the plan ${rest} was changed` };
    case "tenure":
      return tenureEvent(rest, now as Tenure | undefined, before as Tenure | undefined, change.expired);
    case "contender":
      return contenderEvent(rest, now as { readonly phase: string } | undefined);
    case "trouble": {
      const trouble = now as Trouble | undefined;
      return trouble
        ? { kind: "trouble", about: rest, text: `${rest}: ${describeTrouble(trouble)}` }
        : { kind: "cleared", about: rest, text: `nothing is held against ${rest} any more` };
    }
    case "operator":
      return wishEvent(rest, now as Partial<PinWish> | undefined);
    case "fleet":
      return fleetEvent(rest, now);
    case "primary":
      return undefined;
    default:
      // A kind of key of a later version.
      return undefined;
  }
}

function memberEvent(
  node: string,
  now: Member | undefined,
  before: Member | undefined,
  expired: boolean,
): Words | undefined {
  if (!now)
    return expired
      ? { kind: "lost", node, text: `${node} is lost: its session ended` }
      : { kind: "left", node, text: `${node} leaves` };
  if (!before || before.boot !== now.boot)
    return { kind: "joined", node, text: `${node} joined at ${now.address}, version ${now.version}` };
  if (before.capacity !== now.capacity)
    return {
      kind: "changed",
      node,
      text: `${node} changed its capacity from ${before.capacity} to ${now.capacity}`,
    };
  return before.zone === now.zone
    ? undefined
    : { kind: "changed", node, text: `${node} is in zone ${now.zone} now` };
}

function tenureEvent(
  replica: string,
  now: Tenure | undefined,
  before: Tenure | undefined,
  expired: boolean,
): Words {
  if (!now) {
    const node = before?.node ?? "its holder";
    return expired
      ? { kind: "lost", node, about: replica, text: `${replica} has no holder: ${node} is lost` }
      : { kind: "released", node, about: replica, text: `${replica} was released by ${node}` };
  }
  const { node, how, from, reason } = now;
  switch (how) {
    case "hand-over":
      return {
        kind: "handed-over",
        node,
        about: replica,
        text: `${replica} went from ${from ?? "?"} to ${node}: ${reason}`,
      };
    case "re-stamp":
      return { kind: "re-stamped", node, about: replica, text: `${replica} stays on ${node}: ${reason}` };
    default:
      return { kind: "granted", node, about: replica, text: `${replica} is held by ${node}: ${reason}` };
  }
}

function contenderEvent(rest: string, now: { readonly phase: string } | undefined): Words | undefined {
  if (now?.phase !== "ready") return undefined;
  const slash = rest.lastIndexOf("/");
  const node = rest.slice(slash + 1);
  return {
    kind: "ready",
    node,
    about: rest.slice(0, slash),
    text: `${node} is ready for ${rest.slice(0, slash)}`,
  };
}

function wishEvent(rest: string, now: Partial<PinWish> | undefined): Words {
  const [what, ...about] = rest.split("/");
  const subject = about.join("/").replace(/\/any$/, "");
  const who = now && `${(now as Wish).by} ${because((now as Wish).reason)}`.trim();
  if (what === "drain") {
    const text = now ? `${subject} is to be drained, says ${who}` : `${subject} is no longer drained`;
    return { kind: "operator", node: subject, text };
  }
  if (!now) return { kind: "operator", about: subject, text: `${subject} is no longer pinned` };
  const text =
    now.once === true
      ? `${subject} is to be moved to ${now.node}, says ${who}`
      : `${subject} is pinned to ${now.node}, says ${who}`;
  return { kind: "operator", about: subject, text, ...(now.node === undefined ? {} : { node: now.node }) };
}

function because(reason: string): string {
  return reason === "" ? "" : `(${reason})`;
}

function fleetEvent(rest: string, now: unknown): Words | undefined {
  switch (rest) {
    case "era": {
      const era = now as EraRecord | undefined;
      return era && { kind: "era", text: `era ${era.era} is ${era.phase}` };
    }
    case "manager": {
      const manager = now as ManagerRecord | undefined;
      return manager
        ? { kind: "manager", node: manager.node, text: `${manager.node} is the manager` }
        : { kind: "manager", text: "there is no manager" };
    }
    case "protocol": {
      const protocol = now as ProtocolRecord | undefined;
      return protocol && { kind: "changed", text: `the fleet speaks protocol ${protocol.active}` };
    }
    default:
      return undefined;
  }
}
