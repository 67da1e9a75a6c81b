/** What needs a person, now; and the doctor, who looks closer: asks every node and the store, and waits to see what does not get better by itself. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { asProblem, type Problem } from "../api/problem.ts";
import { get } from "../api/request.ts";
import { ProblemNote } from "../ui/problem-note.tsx";
import { AlertList } from "./alert-list.tsx";
import { FleetPage } from "./fleet-page.tsx";

interface Finding {
  readonly level: "ok" | "warning" | "error";
  readonly check: string;
  readonly says: string;
  readonly advice?: string;
}

export default function AlertsPage(): JSX.Element {
  return (
    <FleetPage title="Alerts" about={() => "what needs a person"} need={{ replicas: false }}>
      {(model) => (
        <>
          {model.alerts.length === 0 ? (
            <div class="note good">
              <p>Nothing needs attention.</p>
            </div>
          ) : (
            <AlertList alerts={model.alerts} />
          )}
          <Doctor />
        </>
      )}
    </FleetPage>
  );
}

function Doctor(): JSX.Element {
  const [findings, setFindings] = useState<readonly Finding[]>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const ask = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setFindings((await get<{ findings: readonly Finding[] }>("/v1/fleet/doctor")).findings);
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return (
    <section class="stack">
      <div class="row">
        <div class="grow">
          <h2>Doctor</h2>
          <p class="muted">Asks the store and every node, and looks twice. It takes a few seconds.</p>
        </div>
        <button type="button" onClick={() => void ask()} disabled={busy}>
          {busy ? "Looking…" : "Look closer"}
        </button>
      </div>
      {problem && <ProblemNote problem={problem} />}
      <div class="stack" aria-live="polite">
        {findings?.map(({ level, check, says, advice }) => (
          <div key={`${check} ${says}`} class={`note ${level === "ok" ? "good" : level}`}>
            <p>
              <strong>{check}</strong>: {says}
            </p>
            {advice !== undefined && <p class="muted">{advice}</p>}
          </div>
        ))}
      </div>
    </section>
  );
}
