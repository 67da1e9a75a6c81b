/** Windows over the page: the browser's own dialog element, which keeps the focus inside, closes on Escape and tells screen readers. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import "./dialog.css";

export interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Buttons at the end; the first is nearest to the text. */
  readonly actions?: ComponentChildren;
  readonly wide?: boolean;
}

export function Dialog({ title, close, children, actions, wide = false }: DialogProps): JSX.Element {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "window wide" : "window"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <div class="window-body">
        <h2 id={id}>{title}</h2>
        {children}
        {actions !== undefined && <div class="window-actions">{actions}</div>}
      </div>
    </dialog>
  );
}
