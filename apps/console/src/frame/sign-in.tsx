/** Asks for a token when the gateway wants one. The token stays in this tab. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { asProblem, type Problem } from "../api/problem.ts";
import { signIn } from "../api/session.ts";
import { ProblemNote } from "../ui/problem-note.tsx";
import "./sign-in.css";

export function SignIn(): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const submit = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn(text.trim());
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>Keelson</h1>
        <p class="muted">
          This gateway asks for a token. An operator makes one with <code>keelson token create</code>.
        </p>
        <label class="stack">
          <span>Token</span>
          <input
            type="password"
            name="token"
            autocomplete="off"
            spellcheck={false}
            required
            // There is nothing else on the page.
            autofocus
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
        {problem && <ProblemNote problem={problem} />}
        <p class="muted">It is kept in this tab only, and forgotten when the tab is closed.</p>
      </form>
    </main>
  );
}
