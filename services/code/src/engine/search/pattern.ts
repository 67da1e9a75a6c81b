/** An atom's text or expression, ready to run: what the grams can say, the substring every match has, and automata when these are needed. */
import { EngineError } from "../errors.ts";
import { NEEDLE_BYTES_MAX } from "../memory/scratch.ts";
import type { RegexQuery, SubstringQuery } from "../query.ts";
import { foldSet } from "../regex/case-fold.ts";
import { analyseGrams, literalPlan, type GramPlan } from "../regex/gram-plan.ts";
import { needleGrams } from "../regex/needle-grams.ts";
import { plainLiteral, requiredLiteral, type Literal } from "../regex/literal.ts";
import { parseRegex } from "../regex/parse.ts";
import { checkSize, compile, weight, type Program } from "../regex/program.ts";
import { simplify } from "../regex/simplify.ts";
import { bytesMax, canMatchLineBreak, type Node } from "../regex/syntax.ts";
import { rarity } from "./rare-bytes.ts";

export interface Pattern {
  readonly plan: GramPlan;
  /** Blocks with characters beyond ASCII that fold to letters are candidates too, unless there is a plan that has these characters in it. */
  readonly folds: boolean;
  readonly foldedPlan: GramPlan | undefined;
  readonly literal: Literal | undefined;
  /** Nothing but the literal. */
  readonly whole: boolean;
  /** How many bytes of a match can lie before and after the literal. */
  readonly before: number;
  readonly after: number;
  /** Every match lies in one line and starts so soon before the literal that only blocks in which the literal starts are looked into. */
  readonly near: boolean;
  /** The grams of the literal, where `near` and the plan does not ask for just these. */
  readonly needleGrams: Uint32Array | undefined;
  /** The most bytes that a match can have; 0 when there is no limit, or it is too high to matter. */
  readonly longest: number;
  /** No match contains a line break, so each lies in one line. */
  readonly lineBound: boolean;
  readonly withinLines: boolean;
  /** About how many states its programs have. */
  readonly states: number;
  /** Made when first asked for: most searches need none. */
  programs(checkpoint: () => void): { readonly forward: Program; readonly backward: Program };
}

/** Of all places of a text: what is more frequent costs more to look for than it saves. */
const NEEDLE_RARITY_MAX = 0.008;
/** A match that starts earlier before the literal is looked for from the start of its line. */
const NEAR_BYTES_MAX = 4_096;
/** Twice this and a little more must fit a block, so that what is read around two blocks does not overlap when there is one between them. */
const LONGEST_BYTES_MAX = 2_048;

/** `checkpoint` is called now and then, and may throw to stop: what is asked for can take a while to compile. */
export function compilePattern(query: SubstringQuery | RegexQuery, checkpoint: () => void): Pattern {
  if (query.kind === "substring" && query.caseSensitive) return fromLiteral(query.text, checkpoint);
  const node =
    query.kind === "regex"
      ? simplify(
          parseRegex(query.pattern, {
            caseSensitive: query.caseSensitive,
            checkpoint,
            ...(query.withinLines === undefined ? {} : { withinLines: query.withinLines }),
          }),
        )
      : foldedText(query.text);
  checkSize(node);
  checkpoint();
  const { literal, whole, before, after } = requiredLiteral(node);
  const useful = literal !== undefined && (whole || rarity(literal) <= NEEDLE_RARITY_MAX);
  const lineBound = !canMatchLineBreak(node);
  const near =
    useful && lineBound && before <= NEAR_BYTES_MAX && (after <= NEAR_BYTES_MAX || after === Infinity);
  const grams = analyseGrams(node, checkpoint);
  const most = bytesMax(node);
  return {
    ...grams,
    literal: useful ? literal : undefined,
    whole: useful && whole,
    before,
    after,
    near,
    needleGrams: near && !whole ? needleGrams(literal) : undefined,
    longest: most <= LONGEST_BYTES_MAX ? most : 0,
    lineBound,
    withinLines: query.kind === "regex" && query.withinLines === true,
    states: weight(node),
    programs: once(node),
  };
}

function fromLiteral(text: string, checkpoint: () => void): Pattern {
  const literal = plainLiteral(text);
  if (literal.bytes.length > NEEDLE_BYTES_MAX)
    throw new EngineError(
      "PATTERN_TOO_LARGE",
      `a substring may have ${NEEDLE_BYTES_MAX} bytes: search for a part of it`,
    );
  if (literal.bytes.length === 0)
    return compilePattern({ kind: "regex", pattern: "", caseSensitive: true, scope: "content" }, checkpoint);
  return {
    plan: literalPlan(literal.bytes),
    folds: false,
    foldedPlan: undefined,
    literal,
    whole: true,
    before: 0,
    after: 0,
    near: false,
    needleGrams: undefined,
    longest: 0,
    lineBound: !literal.bytes.includes(10),
    withinLines: false,
    states: 0,
    programs: () => {
      throw new Error("a literal needs no automaton");
    },
  };
}

function foldedText(text: string): Node {
  if (Buffer.byteLength(text) > NEEDLE_BYTES_MAX)
    throw new EngineError(
      "PATTERN_TOO_LARGE",
      `a substring may have ${NEEDLE_BYTES_MAX} bytes: search for a part of it`,
    );
  const of = Array.from(text, (char): Node => {
    const codePoint = char.codePointAt(0)!;
    return { kind: "chars", ranges: foldSet([codePoint, codePoint]), folded: true };
  });
  return { kind: "concat", of };
}

function once(node: Node): Pattern["programs"] {
  let made: ReturnType<Pattern["programs"]> | undefined;
  return (checkpoint) =>
    (made ??= {
      forward: compile(node, { backward: false, anywhere: true, checkpoint }),
      backward: compile(node, { backward: true, anywhere: false, checkpoint }),
    });
}
