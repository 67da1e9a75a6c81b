/** Colours for text, or none of them: what picocolors gives, named so that drawing can be tested without a terminal. */
import type pc from "picocolors";

export type Colors = ReturnType<typeof pc.createColors>;
