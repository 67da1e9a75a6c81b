import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameSplitter, frame } from "./frame.ts";

test("messages come back whole and in order, however their bytes arrive", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 50 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
      (texts, cuts) => {
        const all = Buffer.concat(texts.map((text) => frame(Buffer.from(text))));
        const splitter = new FrameSplitter();
        const heard: string[] = [];
        for (let at = 0, n = 0; at < all.length; n += 1) {
          const size = cuts[n % cuts.length] as number;
          splitter.push(all.subarray(at, at + size), (message) => heard.push(message.toString()));
          at += size;
        }
        expect(heard).toEqual(texts);
      },
    ),
    { seed: 7, numRuns: 500 },
  );
});

test("a compressed message is refused", () => {
  expect(() => new FrameSplitter().push(Buffer.from([1, 0, 0, 0, 0]), () => {})).toThrow(/compressed/);
});
