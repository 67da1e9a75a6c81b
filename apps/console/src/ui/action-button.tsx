/** A button for something that needs a scope. Without it the button stays where it is and says why it cannot be used. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { refusal, type Scope } from "../api/session.ts";

export function ActionButton({
  service,
  scope,
  kind = "",
  unavailable,
  onClick,
  children,
}: {
  /** Whose operation it is: `fleet`, or a service's name. */
  readonly service: string;
  readonly scope: Scope;
  readonly kind?: "" | "primary" | "danger" | "plain";
  /** Why it makes no sense now, as a sentence. */
  readonly unavailable?: string | undefined;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const why = refusal(service, scope) ?? unavailable;
  const id = useId();
  return (
    <span class="action">
      <button
        type="button"
        class={kind}
        aria-disabled={why !== undefined}
        aria-describedby={why === undefined ? undefined : id}
        title={why}
        onClick={() => {
          if (why === undefined) onClick();
        }}
      >
        {children}
      </button>
      {why !== undefined && (
        <span id={id} class="unseen">
          {why}
        </span>
      )}
    </span>
  );
}
