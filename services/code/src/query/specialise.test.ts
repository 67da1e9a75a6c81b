import { expect, test } from "vitest";
import { parseQuery } from "./parse.ts";
import { specialiser, type RepositoryFacts } from "./specialise.ts";

const facts: RepositoryFacts = {
  id: 7,
  name: "github.com/a/b",
  archived: true,
  fork: false,
  public: true,
  metadata: { team: "search" },
};

const left = (query: string): unknown =>
  specialiser(parseQuery(query), (pattern) => {
    const expression = new RegExp(pattern);
    return (text) => expression.test(text);
  })(facts);

test.each([
  ["repo:a/b x", parseQuery("x")],
  ["repo:^b x", { kind: "const", value: false }],
  ["-repo:^b x", parseQuery("x")],
  ["archived:yes x", parseQuery("x")],
  ["archived:no x", { kind: "const", value: false }],
  ["fork:yes or x", parseQuery("x")],
  ["public:yes", { kind: "const", value: true }],
  ["meta.team:^sea x", parseQuery("x")],
  ["meta.team:ops x", { kind: "const", value: false }],
  ["meta.toString:. x", { kind: "const", value: false }],
  ["type:repo repo:a", { kind: "type", type: "repo", child: { kind: "const", value: true } }],
])("what is left of %s for a repository", (query, expected) => {
  expect(left(query)).toEqual(expected);
});

test("a list of ids picks its repositories", () => {
  const pick = specialiser({ kind: "repo-ids", ids: [7, 9] }, () => () => false);
  expect([pick(facts), pick({ ...facts, id: 8 })]).toEqual([
    { kind: "const", value: true },
    { kind: "const", value: false },
  ]);
});
