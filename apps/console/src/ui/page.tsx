/** What every page begins with: its name, one line about it, and what can be done. It also names the browser's tab. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { session } from "../api/session.ts";

export function Page({
  title,
  about,
  actions,
  children,
}: {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  const fleet = session.value?.fleet ?? "Keelson";
  useEffect(() => {
    document.title = `${title} · ${fleet}`;
  }, [title, fleet]);
  return (
    <div class="page stack">
      <header class="page-head">
        <div class="grow">
          <h1>{title}</h1>
          {about !== undefined && <p class="muted">{about}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
