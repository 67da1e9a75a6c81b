/** What a list says when there is nothing in it: that this is so, and how something gets there. */
import type { ComponentChildren, JSX } from "preact";
import "./notes.css";

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}
