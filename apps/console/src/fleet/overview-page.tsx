/** The fleet in one look. */
import type { JSX } from "preact";
import { session } from "../api/session.ts";
import { Page } from "../ui/page.tsx";

export default function OverviewPage(): JSX.Element {
  return (
    <Page title="Overview" about={`The fleet ${session.value?.fleet ?? ""}`}>
      <p class="muted">Nothing to see yet.</p>
    </Page>
  );
}
