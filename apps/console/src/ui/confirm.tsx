/** Asks before something is done, with the reason that is kept with it, and shows what came of it. Every action of the console goes through here. */
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { asProblem, type Problem } from "../api/problem.ts";
import { Dialog } from "./dialog.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { toast } from "./toast.tsx";

export interface Question {
  readonly title: string;
  /** What will happen, and what will not. */
  readonly text: ComponentChildren;
  /** The button's word: a verb. */
  readonly action: string;
  readonly danger?: boolean;
  /** Asks for a reason, which others can read later. */
  readonly reason?: boolean;
  /** Does it. Resolves with what to say; while it rejects, the window stays open and says why. */
  run(reason: string): Promise<string | undefined>;
}

const asked = signal<Question | undefined>(undefined);

export function confirm(question: Question): void {
  asked.value = question;
}

/** Once on the page. */
export function Confirmation(): JSX.Element | null {
  const question = asked.value;
  return question ? <Asking key={question} question={question} /> : null;
}

function Asking({ question }: { readonly question: Question }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const form = useId();
  const close = (): void => {
    if (!busy) asked.value = undefined;
  };
  const run = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const said = await question.run(reason);
      asked.value = undefined;
      if (said !== undefined) toast(said);
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={question.title}
      close={close}
      actions={
        <>
          <button type="button" onClick={close} disabled={busy}>
            Cancel
          </button>
          <button
            type="submit"
            form={form}
            class={question.danger === true ? "danger" : "primary"}
            disabled={busy}
            // A question of one button; Escape leaves it.
            autofocus={question.reason !== true}
          >
            {question.action}
          </button>
        </>
      }
    >
      <form
        id={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <div>{question.text}</div>
        {question.reason === true && (
          <label class="field">
            Reason (others will read it)
            <input
              name="reason"
              value={reason}
              maxLength={500}
              autocomplete="off"
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </label>
        )}
        {problem && <ProblemNote problem={problem} />}
      </form>
    </Dialog>
  );
}
