/** SIGINT and SIGTERM ask to stop in good order; a second one means at once. Here is also the exit code by which shells and scripts see that a command was ended so. */
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
export type StopSignal = (typeof SIGNALS)[number];

/** 130 after Ctrl-C, 143 after SIGTERM. */
export function exitCodeOf(signal: StopSignal): number {
  return 128 + constants.signals[signal];
}

/** Resolves with the first signal. From then on the next one ends the process on the spot, with the exit code shells give it. */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        // oxlint-disable-next-line unicorn/no-process-exit -- that is what a second signal asks for.
        if (asked) process.exit(exitCodeOf(signal));
        asked = true;
        resolve(signal);
      });
    }
  });
}
