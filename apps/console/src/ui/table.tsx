/**
 * A table whose rows are chosen with the keyboard as well as the mouse. Rows have one height, and only those in sight exist, so that a hundred
 * thousand of them cost what thirty do. Sorting and filtering are the page's affair.
 */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import "./table.css";

export interface Column<Row> {
  readonly id: string;
  readonly title: string | JSX.Element;
  readonly cell: (row: Row) => ComponentChildren;
  /** Right-aligned, digits of one width. */
  readonly number?: boolean;
  /** Of the grid: `8rem`, `2fr`; `minmax(4.5rem, 1fr)` when left out. */
  readonly width?: string;
  /** Left out where there is little room. */
  readonly wide?: boolean;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly open?: (row: Row) => void;
  /** Instead of rows, when there are none. */
  readonly empty?: ComponentChildren;
  /** How many rows are in sight at most; the rest is scrolled to. */
  readonly rowsMax?: number;
}

const ROW_PX = 34;
const AROUND = 8;

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { label, columns, rows, keyOf, open, empty, rowsMax = 18 } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(ROW_PX * rowsMax);
  const [active, setActive] = useState(-1);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (!current) return undefined;
    const observer = new ResizeObserver(() => setHeight(current.clientHeight));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (active >= rows.length) setActive(rows.length - 1);
  }, [active, rows.length]);

  const first = Math.max(0, Math.floor(top / ROW_PX) - AROUND);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + AROUND);
  const narrow = useNarrow();
  const shown = narrow ? columns.filter(({ wide }) => wide !== true) : columns;
  const template = shown.map(({ width }) => width ?? "minmax(4.5rem, 1fr)").join(" ");

  const go = (to: number): void => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    setActive(index);
    const { current } = scroller;
    if (!current) return;
    // The head takes the place of one row.
    if (index * ROW_PX < current.scrollTop) current.scrollTop = index * ROW_PX;
    else if ((index + 2) * ROW_PX > current.scrollTop + current.clientHeight)
      current.scrollTop = (index + 2) * ROW_PX - current.clientHeight;
  };
  const onKey = (event: KeyboardEvent): void => {
    const page = Math.floor(height / ROW_PX) - 1;
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page }[event.key];
    if (step !== undefined) go(active + step);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(rows.length - 1);
    else if (event.key === "Enter" && open && event.target === event.currentTarget) {
      const row = rows[active];
      if (row === undefined) return;
      open(row);
    } else return;
    event.preventDefault();
  };

  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div
      ref={scroller}
      class={open ? "table opens" : "table"}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={active >= 0 ? `${label}-${active}` : undefined}
      tabIndex={0}
      style={{ maxHeight: `${ROW_PX * (rowsMax + 1) + 2}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKey}
      onFocus={(event) => {
        if (active < 0 && event.target === event.currentTarget) setActive(first === 0 ? 0 : first + AROUND);
      }}
    >
      <div class="table-head" role="row" style={{ gridTemplateColumns: template }}>
        {shown.map(({ id, title, number }) => (
          <span key={id} role="columnheader" class={number === true ? "number cut" : "cut"}>
            {title}
          </span>
        ))}
      </div>
      <div class="table-rows" style={{ height: `${rows.length * ROW_PX}px` }}>
        {rows.slice(first, last).map((row, offset) => {
          const index = first + offset;
          return (
            // The grid has the keys.
            <div
              key={keyOf(row)}
              id={`${label}-${index}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={index === active}
              class={index === active ? "active" : ""}
              style={{ gridTemplateColumns: template, transform: `translateY(${index * ROW_PX}px)` }}
              onClick={(event) => {
                setActive(index);
                if (open && !(event.target instanceof Element && event.target.closest("a, button, input")))
                  open(row);
              }}
            >
              {shown.map(({ id, number, cell }) => (
                <span key={id} role="gridcell" class={number === true ? "number cut" : "cut"}>
                  {cell(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const NARROW = matchMedia("(max-width: 640px)");

/** Whether the page is as narrow as a phone, now. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const look = (): void => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", look);
    return () => NARROW.removeEventListener("change", look);
  }, []);
  return narrow;
}
