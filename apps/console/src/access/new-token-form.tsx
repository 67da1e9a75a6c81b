/** What a new token shall be called, what it may do, and for how long. */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Scope } from "../api/session.ts";

export interface NewToken {
  readonly name: string;
  readonly scope: Scope;
  readonly services?: readonly string[];
  readonly expiresInMs?: number;
}

const DAY_MS = 86_400_000;
const LASTS: Readonly<Record<string, number>> = {
  "1 day": DAY_MS,
  "30 days": 30 * DAY_MS,
  "1 year": 365 * DAY_MS,
};

export function NewTokenForm({
  wanted,
  services,
}: {
  readonly wanted: Signal<NewToken>;
  readonly services: readonly string[];
}): JSX.Element {
  const { name, scope, services: chosen = [], expiresInMs } = wanted.value;
  const set = (changes: Partial<NewToken>): void => {
    wanted.value = { ...wanted.value, ...changes };
  };
  return (
    <div class="stack">
      <label class="field">
        Name: who has it
        <input
          name="name"
          value={name}
          required
          maxLength={100}
          autocomplete="off"
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
      </label>
      <label class="field">
        Scope
        <select
          name="scope"
          value={scope}
          onChange={(event) => set({ scope: event.currentTarget.value as Scope })}
        >
          <option value="read">read: look</option>
          <option value="write">write: use services</option>
          <option value="admin">admin: steer the fleet and make tokens</option>
        </select>
      </label>
      <label class="field">
        Only for the service
        <select
          name="service"
          value={chosen[0] ?? ""}
          onChange={({ currentTarget: { value } }) => {
            const { services: _, ...rest } = wanted.value;
            wanted.value = value === "" ? rest : { ...rest, services: [value] };
          }}
        >
          <option value="">all of them</option>
          {services.map((service) => (
            <option key={service} value={service}>
              {service}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Expires
        <select
          name="expires"
          value={String(expiresInMs ?? "")}
          onChange={({ currentTarget: { value } }) => {
            const { expiresInMs: _, ...rest } = wanted.value;
            wanted.value = value === "" ? rest : { ...rest, expiresInMs: Number(value) };
          }}
        >
          <option value="">never</option>
          {Object.entries(LASTS).map(([title, ms]) => (
            <option key={title} value={String(ms)}>
              after {title}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
