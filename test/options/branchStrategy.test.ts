import { describe, expect, it } from "vitest";
import { InvalidBranchNameError, InvalidOptionsError } from "../../src/errors.ts";
import {
  type BranchStrategy,
  resolveBranchStrategy,
  type SandboxType,
} from "../../src/options/branchStrategy.ts";

const RUN_ID = "20260101-000000-abcdef";
const onMain = { branch: "main", sha: "a".repeat(40) };
const detached = { branch: undefined, sha: "b".repeat(40) };

const resolve = (
  strategy: BranchStrategy | undefined,
  sandboxType: SandboxType,
  host = onMain as typeof onMain | typeof detached,
) => resolveBranchStrategy(strategy, sandboxType, host, RUN_ID);

describe("the default", () => {
  it.each([
    ["bind-mount", "head"],
    ["isolated", "merge-to-head"],
    ["none", "head"],
  ] as const)("of a %s sandbox is %s", (sandboxType, strategy) => {
    expect(resolve(undefined, sandboxType).strategy).toBe(strategy);
  });
});

const allowed: [BranchStrategy, SandboxType][] = [
  [{ type: "head" }, "bind-mount"],
  [{ type: "head" }, "none"],
  [{ type: "merge-to-head" }, "bind-mount"],
  [{ type: "merge-to-head" }, "isolated"],
  [{ type: "merge-to-head" }, "none"],
  [{ type: "branch", branch: "agent/fix" }, "bind-mount"],
  [{ type: "branch", branch: "agent/fix" }, "isolated"],
  [{ type: "branch", branch: "agent/fix" }, "none"],
];

describe.each([
  ["on a branch", onMain],
  ["with a detached HEAD", detached],
])("%s", (_, host) => {
  it.each(allowed)("%o works with a %s sandbox", (strategy, sandboxType) => {
    const plan = resolve(strategy, sandboxType, host);
    expect(plan.strategy).toBe(strategy.type);
    expect(plan.targetBranch).toBe(host.branch);
    expect(plan.from).toBe(host.sha);
    const source = { head: host.branch, "merge-to-head": `sanddune/${RUN_ID}`, branch: "agent/fix" };
    expect(plan.sourceBranch).toBe(source[strategy.type]);
  });

  it("head is refused for an isolated sandbox", () => {
    expect(() => resolve({ type: "head" }, "isolated", host)).toThrow(InvalidOptionsError);
  });
});

it("a new branch starts where `from` says", () => {
  expect(resolve({ type: "branch", branch: "b", from: "v1.0" }, "isolated").from).toBe("v1.0");
});

it.each([
  "",
  "HEAD",
  "@",
  "-x",
  "--upload-pack=x",
  "a b",
  "a..b",
  "a~1",
  "a^",
  "a:b",
  "a?b",
  "a*b",
  "a[b",
  "a\\b",
  "a@{b",
  "/a",
  "a/",
  "a//b",
  "a.",
  ".a",
  "a/.b",
  "a.lock",
  "a.lock/b",
  "refs/heads/a",
  "a\nb",
  "a\u0000b",
  "\ud800",
  "x".repeat(300),
  "$(touch x)",
])("%j is refused as a branch name", (branch) => {
  expect(() => resolve({ type: "branch", branch }, "bind-mount")).toThrow(InvalidBranchNameError);
});

it.each([
  "a",
  "a/b",
  "a-b",
  "`id`",
  "a;b",
  "$(id)",
  "ünïcödé",
  "A",
  "feature/JIRA-1_x.y",
  "a'b",
  'a"b',
  "a|b&c",
])("%j is used as it is", (branch) => {
  expect(resolve({ type: "branch", branch }, "bind-mount").sourceBranch).toBe(branch);
});
