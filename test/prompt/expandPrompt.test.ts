import { execFileSync } from "node:child_process";
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PromptExpansionError } from "../../src/errors.ts";
import { expandPrompt } from "../../src/prompt/expandPrompt.ts";
import type { SandboxHandle } from "../../src/sandboxes/contract.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { newSandboxName } from "../sandboxes/openSandbox.ts";

let sandbox: SandboxHandle;
beforeAll(async () => {
  sandbox = await testIsolated().create({
    runId: "test-run",
    sandboxName: newSandboxName(),
    repositoryPath: "/nowhere",
  });
});
afterAll(() => sandbox?.close());

const PROMPT_FILE = "/somewhere/prompt.md";

/** A prompt of nothing but expressions, one a line. */
const expand = (commands: readonly string[], timeoutMs = 30_000): Promise<string> => {
  const parts = commands.flatMap((command) => [{ source: command, command }, "\n"]);
  const settings = {
    sandbox,
    cwd: sandbox.worktreePath,
    timeoutMs,
    redactCaptured: (text: string) => text,
  };
  return Effect.runPromise(expandPrompt({ promptFile: PROMPT_FILE, parts }, settings));
};

const failureOf = (attempt: Promise<string>): Promise<PromptExpansionError> =>
  attempt.then(
    () => expect.unreachable(),
    (error) => error,
  );

/** Commands with this word on their command line. */
const running = (word: string): string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(word));

const uniqueSeconds = () => `1000.${process.hrtime.bigint()}`;

it("expressions run at the same time, with an empty standard input", async () => {
  const meet = (mine: string, other: string) =>
    `touch ${mine}; until [ -e ${other} ]; do sleep 0.02; done; echo ${mine}; cat`;
  expect(await expand([meet("one", "two"), meet("two", "one")])).toBe("one\ntwo\n");
});

it.each<[string, string, RegExp, number | undefined]>([
  ["fails", "echo out; exit 3", /exit code 3/, 3],
  ["prints too much", "yes", /more than 1048576 bytes/, undefined],
  ["prints too long a line", "head -c 2000000 /dev/zero | tr '\\0' x", /more than 1048576 bytes/, undefined],
  ["prints binary data", "printf 'a\\000b'", /binary data/, 0],
])(
  "an expression that %s stops the others, and the error tells all",
  async (_, command, problem, exitCode) => {
    const beside = uniqueSeconds();
    const begun = `beside-${beside}`;
    const expression = `until [ -e ${begun} ]; do sleep 0.02; done; echo its last words >&2; ${command}`;
    const error = await failureOf(expand([`touch ${begun}; sleep ${beside}`, expression]));
    expect(error).toBeInstanceOf(PromptExpansionError);
    expect(error.message).toMatch(problem);
    expect(error).toMatchObject({ expression, promptFile: PROMPT_FILE, stderr: "its last words\n" });
    expect(error.exitCode).toBe(exitCode);
    expect(running(beside)).toEqual([]);
  },
);

it("a prompt of which nothing is left is an error", async () => {
  const error = await failureOf(expand(["true", "echo"]));
  expect(error).toBeInstanceOf(PromptExpansionError);
  expect(error.message).toBe(
    "The shell expression !`true` of /somewhere/prompt.md printed nothing, and there is nothing else in the prompt.",
  );
});

it("an expression that takes too long is killed", async () => {
  const seconds = uniqueSeconds();
  const error = await failureOf(expand([`echo its last words >&2; sleep ${seconds}`], 2500));
  expect(error).toBeInstanceOf(PromptExpansionError);
  expect(error.message).toMatch(/longer than 2500 ms.*timeouts\.promptExpansionMs/);
  expect(error.stderr).toBe("its last words\n");
  expect(running(seconds)).toEqual([]);
});
