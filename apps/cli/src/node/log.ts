/** The structured log of a process: JSON lines on stderr, beside the lines for people on stdout. */
import { redact } from "@keelson/runtime";
import pino, { type Logger } from "pino";

export function openLog(level: string, about: Readonly<Record<string, string>>): Logger {
  const stderr = pino.destination({ dest: 2, sync: true });
  // Whatever a service or a library puts into a message, what looks like a secret does not get as far as the disk.
  // A line that is cut for its length loses its end, and would take the next one for its own.
  const write = (line: string): void => void stderr.write(`${redact(line).trimEnd()}\n`);
  return pino({ level, base: about }, { write });
}
