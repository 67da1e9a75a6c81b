/** The field that narrows a list down; `/` goes there. */
import type { JSX } from "preact";

export function FilterField({
  label,
  value,
  change,
}: {
  readonly label: string;
  readonly value: string;
  readonly change: (text: string) => void;
}): JSX.Element {
  return (
    <input
      type="search"
      data-search
      aria-label={label}
      placeholder={`${label}   /`}
      value={value}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}

export function Choice({
  label,
  value,
  options,
  change,
}: {
  readonly label: string;
  readonly value: string;
  /** Without the one for all of them. */
  readonly options: readonly string[];
  readonly change: (value: string) => void;
}): JSX.Element {
  return (
    <select aria-label={label} value={value} onChange={(event) => change(event.currentTarget.value)}>
      <option value="">{label}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}
