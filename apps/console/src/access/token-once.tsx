/** Shows the text of a token that was just made. It is kept nowhere: when the window is closed, it is gone from the page. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "../ui/dialog.tsx";
import { toast, toastProblem } from "../ui/toast.tsx";

const shown = signal<{ readonly name: string; readonly token: string } | undefined>(undefined);

export function showTokenOnce(made: { readonly name: string; readonly token: string }): void {
  shown.value = made;
}

export function TokenOnce(): JSX.Element | null {
  const made = shown.value;
  if (!made) return null;
  const close = (): void => {
    shown.value = undefined;
  };
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
