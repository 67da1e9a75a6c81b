/** Where the page begins. */
import { render } from "preact";
import { loadSession } from "./api/session.ts";
import { App } from "./app.tsx";
import { listenToKeys } from "./ui/shortcuts.ts";
import "./ui/tokens.css";
import "./ui/base.css";

listenToKeys();
void loadSession();
const root = document.getElementById("app");
if (root) render(<App />, root);
