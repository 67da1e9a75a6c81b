/** The map's colours, as numbers that go straight into pixels. They are read from the page's own, so that the map follows the theme. */

export interface Inks {
  /** By state, as in STATES. */
  readonly states: readonly Rgb[];
  readonly bg: Rgb;
  readonly surface: Rgb;
  readonly text: Rgb;
  readonly muted: Rgb;
  readonly accent: Rgb;
  readonly line: Rgb;
}

export type Rgb = readonly [red: number, green: number, blue: number];

export function readInks(): Inks {
  const probe = document.createElement("span");
  document.body.append(probe);
  const read = (name: string): Rgb => {
    probe.style.color = `var(--${name})`;
    const [red = 0, green = 0, blue = 0] = Array.from(
      getComputedStyle(probe).color.matchAll(/[\d.]+/g),
      ([text]) => Number(text),
    );
    return [red, green, blue];
  };
  const inks: Inks = {
    states: [read("held"), read("moving"), read("unheld"), read("quarantined")],
    bg: read("bg"),
    surface: read("surface"),
    text: read("text"),
    muted: read("muted"),
    accent: read("accent"),
    line: read("line"),
  };
  probe.remove();
  return inks;
}

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share];
}

/** As a canvas takes it. */
export function css([red, green, blue]: Rgb, alpha = 1): string {
  return `rgb(${Math.round(red)} ${Math.round(green)} ${Math.round(blue)} / ${alpha})`;
}

/** As a pixel of little-endian memory, which all machines that run browsers have. */
export function pixel([red, green, blue]: Rgb): number {
  return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
}
