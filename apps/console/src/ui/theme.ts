/** Light, dark, or as the system has it. The choice is kept on this machine. */
import { effect, signal } from "@preact/signals";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "keelson-theme";
const kept = localStorage.getItem(KEY) as Theme | null;

export const theme = signal<Theme>(kept !== null && THEMES.includes(kept) ? kept : "system");

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(dark.matches);
dark.addEventListener("change", () => {
  systemDark.value = dark.matches;
});

/** What is shown: for what draws by itself, such as a canvas. */
export function isDark(): boolean {
  return theme.value === "system" ? systemDark.value : theme.value === "dark";
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
}

effect(() => {
  localStorage.setItem(KEY, theme.value);
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});
