/** What a search over HTTP answered: the lines of each file, read from lines of JSON without decoding what is not compared. */
import { eachLine, readNumber } from "./byte-lines.ts";

export interface Answer {
  /** Numbers of lines by path, in rising order. */
  readonly found: ReadonlyMap<string, readonly number[]>;
  readonly lines: number;
  /** Why it may lack something. */
  readonly partial: string | undefined;
}

interface Last {
  readonly partial?: string;
  readonly error?: string;
}

const HEAD = '{"path":';
const NUMBER = Buffer.from(',"line":');

export async function readAnswer(pieces: AsyncIterable<Uint8Array>): Promise<Answer> {
  const found = new Map<string, number[]>();
  let head = Buffer.alloc(0);
  let numbers: number[] = [];
  let lines = 0;
  let partial: string | undefined = "it has no end";
  await eachLine(pieces, (line) => {
    const same = head.length > 0 && line.length > head.length && head.equals(line.subarray(0, head.length));
    if (!same) {
      const end = line.indexOf(NUMBER);
      if (end === -1) {
        const last = JSON.parse(line.toString("utf8")) as Last;
        partial = last.error ?? last.partial;
        return;
      }
      head = Buffer.from(line.subarray(0, end + NUMBER.length));
      const path = JSON.parse(head.toString("utf8", HEAD.length, end)) as string;
      numbers = found.get(path) ?? [];
      found.set(path, numbers);
    }
    numbers.push(readNumber(line, head.length));
    lines += 1;
  });
  return { found, lines, partial };
}
