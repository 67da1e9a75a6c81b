/** Lets the event loop run: long work on the main thread takes a breath between steps, so that nothing else waits for it. */
export function breath(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
