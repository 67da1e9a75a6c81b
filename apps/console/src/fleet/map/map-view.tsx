/** The map on the page: a canvas that draws what is in sight, what the pointer and the keyboard choose on it, and the words for what is chosen. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatAgo, formatBytes, formatNumber } from "../../ui/format.ts";
import { isDark } from "../../ui/theme.ts";
import { SIGNS } from "../state-mark.tsx";
import type { FleetModel } from "../feed/model.ts";
import type { Live } from "../feed/use-fleet.ts";
import { nodeHref, shardHref } from "../links.tsx";
import { readInks } from "./inks.ts";
import { cellAt, cellCentre, layOut, type Layout } from "./layout.ts";
import { Picture, type Mode, type Scene } from "./picture.ts";
import { walk } from "./walk.ts";
import "./map.css";

export interface MapProps extends Live {
  readonly mode: Mode;
  readonly passes: ((i: number) => boolean) | undefined;
  /** Numbers of nodes, in the order they are shown. */
  readonly nodes: readonly number[];
}

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export function MapView({ model, version, mode, passes, nodes }: MapProps): JSX.Element {
  const { route } = useLocation();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [selected, setSelected] = useState<number>();
  const [hovered, setHovered] = useState<number>();
  const dark = isDark();
  const inks = useMemo(() => readInks(), [dark]);

  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const look = (): void =>
      setSize({ width: current.clientWidth, height: parseFloat(getComputedStyle(current).maxHeight) });
    const observer = new ResizeObserver(look);
    observer.observe(current);
    look();
    addEventListener("resize", look);
    return () => {
      observer.disconnect();
      removeEventListener("resize", look);
    };
  }, []);

  const seats = nodes.map((node) => roomFor(model.seats.of(node).length));
  const nobody = roomFor(model.seats.of(-1).length);
  const layout = useMemo(
    () =>
      layOut({
        width: Math.max(80, size.width - 2 * PAD),
        height: Math.max(120, size.height - 2 * PAD),
        nodes: nodes.map((node, at) => ({ node, seats: seats[at]! })),
        nobody,
      }),
    [size.width, size.height, seats.join(), nodes, nobody],
  );

  /** Of the canvas: what there is, or what there is room for. */
  const height = Math.min(size.height, layout.height + 2 * PAD);
  const picture = useRef<Picture>(undefined);
  const scene = useRef<Scene>(undefined);
  const frame = useRef(0);
  const draw = (now: number): void => {
    frame.current = 0;
    if (!scene.current || !picture.current) return;
    picture.current.draw({ ...scene.current, top: (box.current?.scrollTop ?? 0) - PAD, height }, now);
    if (picture.current.moving) soon();
  };
  const soon = (): void => {
    frame.current ||= requestAnimationFrame(draw);
  };

  useEffect(() => {
    if (!canvas.current || size.width === 0) return;
    picture.current ??= new Picture(canvas.current);
    const moves = model.takeMoves();
    if (!STILL.matches) picture.current.fly(moves, performance.now());
    scene.current = {
      model,
      layout,
      inks,
      mode,
      passes,
      selected: selected ?? hovered,
      top: 0,
      height,
    };
    picture.current.paint(scene.current);
    soon();
  }, [model, version, layout, inks, mode, passes]);
  useEffect(() => {
    if (!scene.current) return;
    scene.current = { ...scene.current, selected: hovered ?? selected };
    soon();
  }, [selected, hovered]);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  const at = (event: MouseEvent): number | undefined => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (!bounds) return undefined;
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top + (box.current?.scrollTop ?? 0) - PAD;
    const found = cellAt(layout, x, y);
    const i = found && model.seats.of(found.tile.node)[found.seat];
    return i === undefined || i < 0 ? undefined : i;
  };
  const open = (i: number | undefined): void => {
    if (i !== undefined) route(shardHref(model.serviceName(i), model.shards[i] ?? ""));
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && event.shiftKey) {
      const node = selected === undefined ? undefined : model.nodeName(model.holder[selected]!);
      if (node !== undefined) route(nodeHref(node));
    } else if (event.key === "Enter") open(selected);
    else if (event.key === "Escape") setSelected(undefined);
    else {
      const next = walk(model, layout, selected, event.key);
      if (next === undefined) return;
      setSelected(next);
      setHovered(undefined);
      intoView(box.current, layout, model, next);
    }
    event.preventDefault();
  };

  const shown = hovered ?? selected;
  return (
    <div class="map">
      <div
        ref={box}
        class="map-box"
        onScroll={() => {
          soon();
          setHovered(undefined);
        }}
      >
        <canvas
          ref={canvas}
          tabIndex={0}
          style={{ height: `${height}px` }}
          role="application"
          aria-label="Map of nodes and shards. Arrow keys go from shard to shard, page keys from node to node, Enter opens the shard, Shift and Enter its node."
          aria-describedby="map-chosen"
          onMouseMove={(event) => setHovered(at(event))}
          onMouseLeave={() => setHovered(undefined)}
          onClick={(event) => open(at(event))}
          onKeyDown={onKey}
        />
        <div class="map-height" style={{ height: `${Math.max(0, layout.height + 2 * PAD - height)}px` }} />
      </div>
      <p id="map-chosen" class="map-chosen" aria-live="polite">
        {shown !== undefined && model.exists(shown) ? (
          <Chosen model={model} version={version} i={shown} />
        ) : (
          <span class="muted">
            Point at a shard, or go there with the arrow keys.
            {layout.leftOut > 0 ? ` ${layout.leftOut} more without a holder are not drawn.` : ""}
          </span>
        )}
      </p>
    </div>
  );
}

/** A little more than there are, where there are many: the map is not laid out anew for every shard that comes. */
function roomFor(seats: number): number {
  return seats <= FEW ? seats : Math.ceil(seats / 16) * 16;
}

const FEW = 32;

/** Room around the tiles, so that a selection at the edge can be seen. */
const PAD = 12;

function Chosen({ model, i }: Live & { readonly i: number }): JSX.Element {
  const state = model.stateOf(i);
  const holder = model.nodeName(model.holder[i]!);
  const target = model.nodeName(model.target[i]!);
  return (
    <>
      <strong>{model.nameOf(i)}</strong>
      <span class={`state state-${state}`}>
        <i aria-hidden="true">{SIGNS[state]}</i> {state}
      </span>
      <span>{holder === undefined ? "nobody holds it" : `on ${holder}`}</span>
      {target !== undefined && target !== holder && <span>wanted on {target}</span>}
      {model.revision[i]! > 0 && (
        <span class="muted">
          epoch {model.era[i]}.{model.revision[i]}, {formatAgo(model.since[i]! * 1_000)}
        </span>
      )}
      {model.load[i]! >= 0 && <span class="muted">load {formatNumber(model.load[i]!)}</span>}
      {model.bytes[i]! >= 0 && <span class="muted">{formatBytes(model.bytes[i]!)}</span>}
    </>
  );
}

function intoView(box: HTMLDivElement | null, layout: Layout, model: FleetModel, i: number): void {
  const tile = layout.tiles.find(({ node }) => node === model.seats.nodeOf(i));
  if (!box || !tile) return;
  const { y } = cellCentre(layout, tile, model.seats.seatOf(i));
  const margin = 40;
  if (y - margin < box.scrollTop) box.scrollTop = y - margin;
  else if (y + margin > box.scrollTop + box.clientHeight) box.scrollTop = y + margin - box.clientHeight;
}
