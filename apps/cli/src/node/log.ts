/** The structured log of a process: JSON lines on stderr, beside the lines for people on stdout. */
import pino, { type Logger } from "pino";

export function openLog(level: string, about: Readonly<Record<string, string>>): Logger {
  return pino({ level, base: about }, pino.destination({ dest: 2, sync: true }));
}
