/** What every program that a bench starts begins with: its options, a way to say something, and an end when the bench ends. */
export interface Program<Options, Said> {
  readonly options: Options;
  readonly say: (said: Said) => void;
}

export function program<Options, Said>(): Program<Options, Said> {
  const text = process.argv[2];
  if (text === undefined) throw new Error("this program is started by a bench, with its options as JSON");
  process.on("disconnect", () => process.exit(0));
  return { options: JSON.parse(text) as Options, say: (said) => process.send?.(said) };
}
