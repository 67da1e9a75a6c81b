/** The list of what the keyboard does on the page that is shown. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "./dialog.tsx";
import { Keys } from "./palette.tsx";
import { commands } from "./shortcuts.ts";

const shown = signal(false);

export function openKeysHelp(): void {
  shown.value = true;
}

/** Once on the page. */
export function KeysHelp(): JSX.Element | null {
  if (!shown.value) return null;
  const close = (): void => {
    shown.value = false;
  };
  const keyed = commands.value.filter(({ keys }) => keys !== undefined);
  const groups = [...new Set(keyed.map(({ group }) => group))];
  return (
    <Dialog
      title="Keyboard"
      close={close}
      wide
      actions={
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      }
    >
      <div class="keys-help">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {keyed
                .filter((one) => one.group === group)
                .map(({ keys = "", title }) => (
                  <>
                    <dt>
                      <Keys keys={keys} />
                    </dt>
                    <dd>{title}</dd>
                  </>
                ))}
            </dl>
          </section>
        ))}
        <section>
          <h3>In tables</h3>
          <dl>
            <dt>
              <Keys keys="↑ ↓" />
            </dt>
            <dd>Choose a row (or j, k)</dd>
            <dt>
              <kbd>Enter</kbd>
            </dt>
            <dd>Open it</dd>
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
