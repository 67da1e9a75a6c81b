/** Shows the text of a token that was just made. It is kept nowhere: when the window is closed or the page is left, it is gone. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { toast, toastProblem } from "../ui/toast.tsx";

const shown = signal<{ readonly name: string; readonly token: string } | undefined>(undefined);

export function showTokenOnce(made: { readonly name: string; readonly token: string }): void {
  shown.value = made;
}

function close(): void {
  shown.value = undefined;
}

export function TokenOnce(): JSX.Element | null {
  const made = shown.value;
  // Whoever comes to this page next may be somebody else.
  useEffect(() => close, []);
  if (!made) return null;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(made.token);
      toast("Copied.");
    } catch (error) {
      toastProblem(error);
    }
  };
  return (
    <Dialog
      title={`The token of ${made.name}`}
      close={close}
      actions={
        <>
          <button type="button" onClick={() => void copy()}>
            Copy
          </button>
          <button type="button" class="primary" onClick={close}>
            I have it
          </button>
        </>
      }
    >
      <p>This is the only time that it is shown: the fleet keeps no copy of it.</p>
      <input
        readOnly
        aria-label="Token"
        class="mono"
        value={made.token}
        onFocus={(event) => event.currentTarget.select()}
      />
    </Dialog>
  );
}
