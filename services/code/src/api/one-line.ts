/** Text of others' repositories on a terminal or in an agent's answer: what would begin a new line, move the cursor or turn the direction of writing is written out. */
export function oneLine(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- they are what is looked for.
    /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
