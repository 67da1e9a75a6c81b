/** Short messages in the corner: what was done, or what failed beside the page. They leave by themselves, failures later. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { asProblem } from "../api/problem.ts";
import "./notes.css";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "info" | "error";
}

const INFO_MS = 6_000;
const ERROR_MS = 15_000;
const toastsMax = 4;

const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function toast(text: string, kind: Toast["kind"] = "info"): void {
  const id = ++last;
  toasts.value = [...toasts.value, { id, text, kind }].slice(-toastsMax);
  setTimeout(() => dismiss(id), kind === "info" ? INFO_MS : ERROR_MS);
}

/** For what failed and has no place of its own on the page. */
export function toastProblem(error: unknown): void {
  const { message, advice } = asProblem(error);
  toast(advice === undefined ? message : `${message} ${advice}`, "error");
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Once on the page. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`}>
          <span class="grow">{text}</span>
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
