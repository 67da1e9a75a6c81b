/** Chooses what is on the page: a token is asked for, or the frame with the page that the address names. */
import type { JSX } from "preact";
import { ErrorBoundary, lazy, LocationProvider, Route, Router } from "preact-iso";
import { loadSession, state } from "./api/session.ts";
import { Frame } from "./frame/frame.tsx";
import { SignIn } from "./frame/sign-in.tsx";
import { Empty } from "./ui/empty.tsx";
import { ProblemNote } from "./ui/problem-note.tsx";
import { toastProblem } from "./ui/toast.tsx";

const Overview = lazy(() => import("./fleet/overview-page.tsx"));
const Service = lazy(() => import("./services/service-page.tsx"));

export function App(): JSX.Element {
  const now = state.value;
  switch (now.kind) {
    case "loading":
      return <main aria-busy="true" />;
    case "out":
      return <SignIn />;
    case "failed":
      return (
        <main>
          <ProblemNote problem={now.problem} again={() => void loadSession()} />
        </main>
      );
    case "in":
      return (
        <LocationProvider scope="/console">
          <Frame>
            <ErrorBoundary onError={toastProblem}>
              <Router>
                <Route path="/console" component={Overview} />
                <Route path="/console/:service/:rest*" component={Service} />
                <Route default component={Nowhere} />
              </Router>
            </ErrorBoundary>
          </Frame>
        </LocationProvider>
      );
  }
}

function Nowhere(): JSX.Element {
  return <Empty title="Nothing is at this address">The menu leads to what there is.</Empty>;
}
