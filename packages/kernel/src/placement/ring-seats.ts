import type { ViewMember } from "../membership/view.ts";
import { HASH_SPAN, hash } from "./hash.ts";
import { RingLine, type RingScene } from "./ring-line.ts";
import type { RingOptions } from "./ring-options.ts";
import { TokenRing } from "./token-ring.ts";

/** A target and up to three that take over, in order. */
const candidatesMax = 4;
/** How far to look for a better successor once there are enough: it only saves a move if the target is lost before the view changes. */
const successorStepsMax = 256;

const NONE = -1;

/**
 * Where the replicas of one view sit, filled shard by shard: the working state of `ring/1`, whose rules are in ring.ts. It is made of flat
 * arrays because 100,000 replicas on 1,000 nodes are placed anew at every change of a view. Members are named by index throughout.
 */
export class RingSeats {
  readonly #scene: RingScene;
  readonly #ring: TokenRing;
  readonly #slots: number;
  readonly #zones: readonly string[];
  /** Zone of each member, and members of each zone. */
  readonly #zoneOf: Uint32Array;
  readonly #zoneSize: Uint32Array;
  /** Replicas on each member so far, and the most it may get. */
  readonly #count: Uint32Array;
  readonly #cap: Float64Array;
  /** Members below their cap: in each zone, and in all. */
  readonly #zoneOpen: Int32Array;
  #open: number;

  // The shard being placed.
  /** The zone of each slot, when there are no more zones than slots; otherwise slots take any zone that none of them has yet. */
  readonly #zoneFor: Int32Array | undefined;
  /** How many of the shard's replicas each zone has. */
  readonly #zoneUse: Uint32Array;
  /** 1 for members that hold one of the shard's replicas. */
  readonly #taken: Uint8Array;
  /** Per slot: where its walk begins, the token it wants, the member it has. */
  readonly #place: Float64Array;
  readonly #wants: Int32Array;
  readonly #has: Int32Array;
  /** Per slot and per rule: the first member its walk passed over. */
  readonly #passedTaken: Int32Array;
  readonly #passedZone: Int32Array;
  readonly #passedFull: Int32Array;

  constructor(members: readonly ViewMember[], shards: number, slots: number, options: RingOptions) {
    const zones = [...new Set(members.map((member) => member.zone))];
    const zoneIndex = new Map(zones.map((zone, index) => [zone, index]));
    const weight = members.reduce((sum, member) => sum + member.weight, 0);
    const caps = members.map((member) =>
      options.loadFactor === 0
        ? Infinity
        : Math.ceil((options.loadFactor * shards * slots * member.weight) / weight),
    );
    this.#scene = { members, caps };
    this.#ring = new TokenRing(members, options.vnodes);
    this.#slots = slots;
    this.#zones = zones;
    this.#zoneFor = zones.length > slots ? undefined : new Int32Array(slots);
    this.#zoneOf = Uint32Array.from(members, (member) => zoneIndex.get(member.zone) ?? 0);
    this.#zoneSize = new Uint32Array(zones.length);
    for (const zone of this.#zoneOf) this.#zoneSize[zone] = (this.#zoneSize[zone] ?? 0) + 1;
    this.#count = new Uint32Array(members.length);
    this.#cap = Float64Array.from(caps);
    this.#zoneOpen = Int32Array.from(this.#zoneSize);
    this.#open = members.length;
    this.#zoneUse = new Uint32Array(zones.length);
    this.#taken = new Uint8Array(members.length);
    this.#place = new Float64Array(slots);
    this.#wants = new Int32Array(slots);
    this.#has = new Int32Array(slots);
    this.#passedTaken = new Int32Array(slots);
    this.#passedZone = new Int32Array(slots);
    this.#passedFull = new Int32Array(slots);
  }

  /** Seats one more shard. One line per slot. */
  place(shard: string): RingLine[] {
    const slots = this.#slots;
    for (let slot = 0; slot < slots; slot++) {
      this.#place[slot] = hash(shard, slot);
      this.#wants[slot] = NONE;
      this.#has[slot] = NONE;
    }
    if (this.#zoneFor) this.#chooseZones(this.#zoneFor);
    for (let seated = 0; seated < slots; seated++) this.#seat(this.#nearest());
    const lines: RingLine[] = [];
    for (let slot = 0; slot < slots; slot++) lines.push(this.#line(slot));
    for (let slot = 0; slot < slots; slot++) {
      const member = this.#has[slot] as number;
      this.#taken[member] = 0;
      this.#zoneUse[this.#zoneOf[member] as number] = 0;
    }
    return lines;
  }

  /**
   * Gives each slot its zone: of all slots and zones, the pair with the lowest hash first, and a zone its second replica only when every
   * zone with room has its first. Nodes have no say in it, so a node that goes leaves all zones as they were.
   */
  #chooseZones(zoneFor: Int32Array): void {
    zoneFor.fill(this.#zones.length === 1 ? 0 : NONE);
    if (this.#zones.length === 1) return;
    const use = this.#zoneUse;
    for (let chosen = 0; chosen < this.#slots; chosen++) {
      let level = Infinity;
      for (const [zone, size] of this.#zoneSize.entries())
        if ((use[zone] as number) < size) level = Math.min(level, use[zone] as number);
      let lowest = Infinity;
      let forSlot = NONE;
      let theZone = NONE;
      for (const [zone, name] of this.#zones.entries()) {
        if (use[zone] !== level || level >= (this.#zoneSize[zone] as number)) continue;
        for (let slot = 0; slot < this.#slots; slot++) {
          if (zoneFor[slot] !== NONE) continue;
          // The low 32 bits of the slot's place are as good a seed as any, and cost no second hash of the shard.
          const value = hash(name, (this.#place[slot] as number) | 0);
          if (value < lowest) [lowest, forSlot, theZone] = [value, slot, zone];
        }
      }
      zoneFor[forSlot] = theZone;
      use[theZone] = level + 1;
    }
    use.fill(0);
  }

  /** Of the slots without a seat, the one whose wanted token is nearest to its place. */
  #nearest(): number {
    const { owners, tokens } = this.#ring;
    let nearest = NONE;
    let shortest = Infinity;
    for (let slot = 0; slot < this.#slots; slot++) {
      if (this.#has[slot] !== NONE) continue;
      let wants = this.#wants[slot] as number;
      // What a slot wants stays its nearest until that very node or zone is taken.
      if (
        wants === NONE ||
        this.#taken[owners[wants] as number] === 1 ||
        this.#closed(slot, owners[wants] as number)
      ) {
        wants = this.#walk(slot);
        this.#wants[slot] = wants;
      }
      const ahead = (tokens[wants] as number) - (this.#place[slot] as number);
      const distance = ahead < 0 ? ahead + HASH_SPAN : ahead;
      if (distance < shortest) {
        shortest = distance;
        nearest = slot;
      }
    }
    return nearest;
  }

  /** The first token from the slot's place on that the rules let it have. There is one: members and zones outnumber what is taken. */
  #walk(slot: number): number {
    const { owners, size } = this.#ring;
    const bounded = this.#openFor(slot) > 0;
    let passedTaken = NONE;
    let passedZone = NONE;
    let passedFull = NONE;
    let at = this.#ring.at(this.#place[slot] as number);
    let steps = 0;
    for (; steps < size; steps++) {
      const member = owners[at] as number;
      if (this.#taken[member] === 1) {
        if (passedTaken === NONE) passedTaken = member;
      } else if (this.#closed(slot, member)) {
        if (passedZone === NONE) passedZone = member;
      } else if (bounded && this.#full(member)) {
        if (passedFull === NONE) passedFull = member;
      } else {
        break;
      }
      at = at + 1 === size ? 0 : at + 1;
    }
    if (steps === size) throw new Error("a walk went all round the ring: fewer places than slots");
    this.#passedTaken[slot] = passedTaken;
    this.#passedZone[slot] = passedZone;
    this.#passedFull[slot] = passedFull;
    return at;
  }

  /** Whether the member's zone is not for this slot. */
  #closed(slot: number, member: number): boolean {
    const zone = this.#zoneOf[member] as number;
    return this.#zoneFor ? this.#zoneFor[slot] !== zone : (this.#zoneUse[zone] as number) > 0;
  }

  #full(member: number): boolean {
    return (this.#count[member] as number) >= (this.#cap[member] as number);
  }

  /** How many members that are not full the slot may go to. */
  #openFor(slot: number): number {
    const own = this.#zoneFor ? (this.#zoneFor[slot] as number) : NONE;
    let open = own === NONE ? this.#open : (this.#zoneOpen[own] as number);
    for (const member of this.#has) {
      if (member === NONE) continue;
      const zone = this.#zoneOf[member] as number;
      if (own === NONE) open -= this.#zoneOpen[zone] as number;
      else if (zone === own && !this.#full(member)) open -= 1;
    }
    return open;
  }

  #seat(slot: number): void {
    const member = this.#ring.owners[this.#wants[slot] as number] as number;
    const zone = this.#zoneOf[member] as number;
    const wasFull = this.#full(member);
    this.#has[slot] = member;
    this.#taken[member] = 1;
    this.#zoneUse[zone] = (this.#zoneUse[zone] as number) + 1;
    this.#count[member] = (this.#count[member] as number) + 1;
    if (!wasFull && this.#full(member)) {
      this.#open -= 1;
      this.#zoneOpen[zone] = (this.#zoneOpen[zone] as number) - 1;
    }
  }

  /** The slot's line, once all slots of the shard are seated: its target, and who would get it if the target were gone. */
  #line(slot: number): RingLine {
    const { owners, size } = this.#ring;
    const { members } = this.#scene;
    const target = this.#has[slot] as number;
    const zone = this.#zoneOf[target] as number;
    const candidates = [(members[target] as ViewMember).node];
    const second: string[] = [];
    const seen = [target];
    const eligible = members.length - this.#slots + 1;
    let at = this.#wants[slot] as number;
    for (let steps = 1; seen.length < eligible && candidates.length < candidatesMax; steps++) {
      if (steps > successorStepsMax && candidates.length + second.length >= candidatesMax) break;
      at = at + 1 === size ? 0 : at + 1;
      const member = owners[at] as number;
      if (this.#taken[member] === 1 || seen.includes(member)) continue;
      seen.push(member);
      const itsZone = this.#zoneOf[member] as number;
      const fits = itsZone === zone || (!this.#zoneFor && this.#zoneUse[itsZone] === 0);
      if (fits && !this.#full(member)) candidates.push((members[member] as ViewMember).node);
      else if (second.length < candidatesMax) second.push((members[member] as ViewMember).node);
    }
    for (const node of second) if (candidates.length < candidatesMax) candidates.push(node);
    return new RingLine(this.#scene, candidates, {
      place: this.#place[slot] as number,
      taken: this.#passedTaken[slot] as number,
      zone: this.#passedZone[slot] as number,
      full: this.#passedFull[slot] as number,
    });
  }
}
