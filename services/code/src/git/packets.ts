/** Git's packet lines: four hexadecimal digits of length, themselves included, and so many bytes. Lengths below four mark ends. */
export const flushPacket = Buffer.from("0000");

export function packet(text: string): Buffer {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from((body.length + 4).toString(16).padStart(4, "0")), body]);
}

/** The lines without their line breaks and without the marks between them; undefined when these are no packets, or the last is not an end. */
export function packetsOf(bytes: Buffer): string[] | undefined {
  const lines: string[] = [];
  let ended = false;
  for (let at = 0; at < bytes.length;) {
    const digits = bytes.toString("latin1", at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) return undefined;
    const length = parseInt(digits, 16);
    ended = length === 0;
    const end = at + Math.max(4, length);
    if (length === 3 || end > bytes.length) return undefined;
    if (length >= 4) lines.push(bytes.toString("utf8", at + 4, end).replace(/\n$/, ""));
    at = end;
  }
  return ended ? lines : undefined;
}
