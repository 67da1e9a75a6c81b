/** What is around every page: the menu, the fleet's name, search, theme and who is signed in. */
import type { ComponentChildren, JSX } from "preact";
import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import { session, signOut } from "../api/session.ts";
import { addSource, openPalette, Palette } from "../ui/palette.tsx";
import { KeysHelp, openKeysHelp } from "../ui/keys-help.tsx";
import { addCommands, focusSearch } from "../ui/shortcuts.ts";
import { nextTheme, theme } from "../ui/theme.ts";
import { Toasts } from "../ui/toast.tsx";
import { Confirmation } from "../ui/confirm.tsx";
import { model, version } from "../fleet/feed/connection.ts";
import { findInFleet } from "../fleet/find-in-fleet.ts";
import { groups } from "./navigation.ts";
import "./frame.css";

export function Frame({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const { path, route } = useLocation();
  const [open, setOpen] = useState(false);
  const who = session.value;
  useEffect(() => setOpen(false), [path]);
  useEffect(
    () =>
      addCommands([
        { keys: "/", title: "Search on this page", group: "Everywhere", run: focusSearch },
        { keys: "?", title: "Show what the keyboard does", group: "Everywhere", run: openKeysHelp },
        { keys: "k", title: "Go to, or do", group: "Everywhere", run: openPalette },
        { keys: "t", title: "Switch light, dark, system", group: "Everywhere", run: nextTheme },
      ]),
    [],
  );
  useEffect(() => addSource((typed) => findInFleet(typed, route)), [route]);
  const places = groups.value;
  useEffect(
    () =>
      addCommands(
        places.flatMap(({ title: group, places: list }) =>
          list.map(({ href, title, about, keys }) => ({
            title,
            about,
            group: group === "Fleet" ? "Go to" : group,
            run: () => route(href),
            ...(keys === undefined ? {} : { keys }),
          })),
        ),
      ),
    [places],
  );
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      openPalette();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <button
          type="button"
          class="plain menu-button"
          aria-label="Menu"
          aria-expanded={open}
          aria-controls="menu"
          onClick={() => setOpen(!open)}
        >
          ☰
        </button>
        <a class="brand" href="/console/">
          <span class="mark" aria-hidden="true" />
          <span class="cut">{who?.fleet ?? "Keelson"}</span>
        </a>
        <span class="grow" />
        <button type="button" class="finder" onClick={openPalette}>
          <span>Go to, or do…</span> <kbd>k</kbd>
        </button>
        <button
          type="button"
          class="plain"
          onClick={nextTheme}
          aria-label={`Colours: ${theme.value}`}
          title={`Colours: ${theme.value} (t)`}
        >
          {{ system: "◐", light: "☀", dark: "☾" }[theme.value]}
        </button>
        <button
          type="button"
          class="plain"
          onClick={openKeysHelp}
          aria-label="Keyboard help"
          title="Keyboard (?)"
        >
          ?
        </button>
      </header>
      <nav id="menu" class={open ? "menu open" : "menu"} aria-label="Pages">
        {places.map(({ title, places: list }) => (
          <section key={title}>
            <h2>{title}</h2>
            {list.map(({ href, title: name }) => (
              <a key={href} href={href} aria-current={isHere(path, href) ? "page" : undefined}>
                {name}
                {href === "/console/alerts" && <AlertCount />}
              </a>
            ))}
          </section>
        ))}
        <section class="who">
          {who?.tokens === true && (
            <>
              <span class="cut muted" title={who.principal.name}>
                {who.principal.name} · {who.principal.scope}
              </span>
              <button type="button" class="plain" onClick={signOut}>
                Sign out
              </button>
            </>
          )}
          <a href="/docs" target="_blank" rel="noreferrer">
            API
          </a>
          <span class="muted">version {who?.version ?? "?"}</span>
        </section>
      </nav>
      {open && (
        <button type="button" class="veil" aria-label="Close the menu" onClick={() => setOpen(false)} />
      )}
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Confirmation />
      <Palette />
      <KeysHelp />
      <Toasts />
    </div>
  );
}

/** How many there are, while a page follows the fleet. */
function AlertCount(): JSX.Element | null {
  const alerts = version.value >= 0 ? (model.value?.alerts ?? []) : [];
  if (alerts.length === 0) return null;
  const error = alerts.some(({ level }) => level === "error");
  return (
    <span class={error ? "badge error" : "badge"} aria-label={`${alerts.length} to look at`}>
      {alerts.length}
    </span>
  );
}

function isHere(path: string, href: string): boolean {
  if (href === "/console/") return path === "/console/" || path === "/console";
  return path === href || path.startsWith(`${href}/`);
}
