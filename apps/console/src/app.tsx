/** Chooses what is on the page: a token is asked for, or the frame with the page that the address names. */
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { ErrorBoundary, lazy, LocationProvider, Route, Router } from "preact-iso";
import { loadSession, state } from "./api/session.ts";
import { forget } from "./fleet/feed/connection.ts";
import { Frame } from "./frame/frame.tsx";
import { SignIn } from "./frame/sign-in.tsx";
import { Empty } from "./ui/empty.tsx";
import { ProblemNote } from "./ui/problem-note.tsx";
import { toastProblem } from "./ui/toast.tsx";

const Overview = lazy(() => import("./fleet/overview-page.tsx"));
const Map = lazy(() => import("./fleet/map-page.tsx"));
const Nodes = lazy(() => import("./fleet/nodes-page.tsx"));
const Node = lazy(() => import("./fleet/node-page.tsx"));
const Shards = lazy(() => import("./fleet/shards-page.tsx"));
const Shard = lazy(() => import("./fleet/shard-page.tsx"));
const Moves = lazy(() => import("./fleet/moves-page.tsx"));
const Auctions = lazy(() => import("./fleet/auctions-page.tsx"));
const Events = lazy(() => import("./fleet/events-page.tsx"));
const Alerts = lazy(() => import("./fleet/alerts-page.tsx"));
const Tokens = lazy(() => import("./access/tokens-page.tsx"));
const Audit = lazy(() => import("./access/audit-page.tsx"));
const Service = lazy(() => import("./services/service-page.tsx"));

// What was seen with one token is not shown to the next.
effect(() => {
  if (state.value.kind === "out") forget();
});

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
                <Route path="/console/map" component={Map} />
                <Route path="/console/nodes" component={Nodes} />
                <Route path="/console/nodes/:node" component={Node} />
                <Route path="/console/shards" component={Shards} />
                <Route path="/console/shards/:service/:shard" component={Shard} />
                <Route path="/console/moves" component={Moves} />
                <Route path="/console/auctions" component={Auctions} />
                <Route path="/console/events" component={Events} />
                <Route path="/console/alerts" component={Alerts} />
                <Route path="/console/tokens" component={Tokens} />
                <Route path="/console/audit" component={Audit} />
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
