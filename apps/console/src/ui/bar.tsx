/** A bar of shares, such as replicas by state or memory in use. What it shows is also said in words, for whoever cannot see it. */
import type { JSX } from "preact";
import "./bar.css";

export interface Share {
  readonly name: string;
  readonly value: number;
  /** One of the states, or `accent`. */
  readonly colour: string;
}

export function Bar({
  shares,
  total,
  label,
}: {
  readonly shares: readonly Share[];
  /** What the whole bar stands for; the sum of the shares when left out. */
  readonly total?: number;
  readonly label: string;
}): JSX.Element {
  const whole = Math.max(1e-9, total ?? shares.reduce((sum, { value }) => sum + value, 0));
  return (
    <span class="bar" role="img" aria-label={label} title={label}>
      {shares.map(({ name, value, colour }) =>
        value > 0 ? (
          <span
            key={name}
            class={`fill-${colour}`}
            style={{ width: `max(3px, ${(100 * Math.min(value, whole)) / whole}%)` }}
          />
        ) : null,
      )}
    </span>
  );
}
