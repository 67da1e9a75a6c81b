/** Who this page is to the gateway, and what there is to show: the fleet's name, the token's scope, the services and their pages. */
import { computed, signal } from "@preact/signals";
import { asProblem, type Problem } from "./problem.ts";
import { get, whenUnauthorised } from "./request.ts";
import { keepToken } from "./token.ts";

export type Scope = "read" | "write" | "admin";

export interface DeclaredPage {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly reads: readonly { readonly name: string; readonly path: string }[];
  readonly actions: readonly {
    readonly route: string;
    readonly title: string;
    readonly confirm: string;
    readonly verb: string;
    readonly path: string;
    readonly scope: Scope;
  }[];
}

interface ConsoleSession {
  readonly fleet: string;
  readonly version: string;
  /** Whether the gateway asks for tokens at all. */
  readonly tokens: boolean;
  readonly principal: {
    readonly name: string;
    readonly scope: Scope;
    readonly services?: readonly string[];
    readonly tenants?: readonly string[];
  };
  readonly services: readonly {
    readonly name: string;
    readonly about: string;
    readonly pages: readonly DeclaredPage[];
  }[];
}

type State =
  | { readonly kind: "loading" }
  | { readonly kind: "in"; readonly session: ConsoleSession }
  /** The gateway wants a token, or another one. `why` is there after a token was tried. */
  | { readonly kind: "out"; readonly why?: Problem }
  | { readonly kind: "failed"; readonly problem: Problem };

export const state = signal<State>({ kind: "loading" });

/** Undefined until signed in. */
export const session = computed(() => (state.value.kind === "in" ? state.value.session : undefined));

const RANK: Readonly<Record<Scope, number>> = { read: 0, write: 1, admin: 2 };

/** Why the token may not do this, as a sentence for a tooltip; undefined when it may. */
export function refusal(service: string, scope: Scope): string | undefined {
  const principal = session.value?.principal;
  if (!principal) return "Sign in first.";
  if (RANK[principal.scope] < RANK[scope])
    return `Needs the scope ${scope}; the token ${principal.name} has ${principal.scope}.`;
  if (principal.services && !principal.services.includes(service))
    return `The token ${principal.name} is not for the service ${service}.`;
  return undefined;
}

export async function loadSession(): Promise<void> {
  try {
    state.value = { kind: "in", session: await get<ConsoleSession>("/v1/console") };
  } catch (error) {
    const problem = asProblem(error);
    state.value = problem.status === 401 ? { kind: "out" } : { kind: "failed", problem };
  }
}

/** Tries a token; rejects with the Problem when it is not taken. */
export async function signIn(text: string): Promise<void> {
  keepToken(text);
  try {
    state.value = { kind: "in", session: await get<ConsoleSession>("/v1/console") };
  } catch (error) {
    keepToken("");
    throw asProblem(error);
  }
}

export function signOut(): void {
  keepToken("");
  state.value = { kind: "out" };
  // A gateway that asks for no token lets anybody in again at once.
  void loadSession();
}

// A token can be revoked while the page is open: then nothing on it is true any more.
whenUnauthorised(() => {
  if (state.value.kind === "in") state.value = { kind: "out" };
});
