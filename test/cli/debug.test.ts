import { expect, it } from "vitest";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWith } from "../helpers/runtimes/runtimes.ts";
import { runCli } from "./callCli.ts";

const STACK = /^ {4}at /m;
const SECRET = "tok+Zx/81=mQv9pLw4-of-the-test";
const by = (agent: string): string[] => [
  ...["run", "--agent-command", agent, "--sandbox", "bubblewrap", "--branch", "b", "--prompt", "Work"],
];

it.each([
  ["a command line that cannot be parsed", ["run", "--nonsense"], "UsageError: unknown option"],
  [
    "a mistake in the flags",
    ["run", "--from", "x", ...by("true").slice(1)].filter((w) => w !== "--branch" && w !== "b"),
    "UsageError: --from",
  ],
  ["a place that is no repository", [...by("true"), "--cwd", "/"], "NotARepositoryError: "],
])("%s: a stack only with SANDDUNE_DEBUG=1, and the same error", async (_, args, title) => {
  const cwd = temporaryRepository();
  const plain = await runCli(args, { cwd, env: { SANDDUNE_DEBUG: "" } });
  expect(plain.stderr).not.toMatch(STACK);
  expect((await runCli(args, { cwd, env: { SANDDUNE_DEBUG: "0" } })).stderr).toBe(plain.stderr);
  const { exitCode, stderr } = await runCli(args, { cwd, env: { SANDDUNE_DEBUG: "1" } });
  expect(stderr.startsWith(plain.stderr)).toBe(true);
  expect(stderr).toContain(title);
  expect(stderr).toMatch(STACK);
  expect(exitCode).toBe(plain.exitCode);
});

it("SANDDUNE_DEBUG=1 leaves the answer to a program as it is", async () => {
  const cwd = temporaryDirectory();
  const answers = await Promise.all(
    ["", "1"].map((SANDDUNE_DEBUG) => runCli([...by("true"), "--json"], { cwd, env: { SANDDUNE_DEBUG } })),
  );
  expect(answers[0]?.stdout).toBe(answers[1]?.stdout);
  expect(JSON.parse(answers[1]?.stdout ?? "")).toMatchObject({ error: { name: "NotARepositoryError" } });
});

describeWith(["bubblewrap"], "SANDDUNE_DEBUG=1", () => {
  it("shows the causes of an error", async () => {
    const args = [...by("true"), "--copy", "gone"];
    const { stderr } = await runCli(args, { cwd: temporaryRepository(), env: { SANDDUNE_DEBUG: "1" } });
    expect(stderr).toMatch(/^CopyToWorktreeError: /m);
    expect(stderr).toMatch(/^Caused by: Error: ENOENT/m);
  });

  it("shows the stack of a run that failed, and no secret", async () => {
    const agent = 'echo "bad key $MY_KEY" >&2; exit 3';
    for (const flags of [[], ["--logging", "stdout"], ["--json"]]) {
      const { exitCode, stdout, stderr } = await runCli([...by(agent), "--env", "MY_KEY", ...flags], {
        cwd: temporaryRepository(),
        env: { SANDDUNE_DEBUG: "1", MY_KEY: SECRET, OTHER_KEY: `other-${SECRET}` },
      });
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^AgentFailedError: /m);
      expect(stderr).toMatch(STACK);
      expect(stderr).toContain("[redacted MY_KEY]");
      expect(stdout + stderr).not.toContain(SECRET);
    }
  });
});
