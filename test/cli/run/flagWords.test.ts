import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { messageOf } from "../../../src/cli/shared/reportError.ts";
import { BranchInUseError, InvalidOptionsError, SandboxUserMismatchError } from "../../../src/errors.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";

const AGENT = ["--agent-command", "true", "--prompt", "x"];
const TEST_ISOLATED = resolve(import.meta.dirname, "../../../src/sandboxes/test-isolated.ts");

it("--head in an isolated sandbox is refused in words of the command line", async () => {
  const cwd = temporaryRepository();
  const module = join(cwd, ".git/mine.mjs");
  writeFileSync(
    module,
    `export { testIsolated } from ${JSON.stringify(TEST_ISOLATED)};
import { testIsolated } from ${JSON.stringify(TEST_ISOLATED)};
export default testIsolated();`,
  );
  const { exitCode, stderr } = await runCli(["run", ...AGENT, "--sandbox", module, "--head"], { cwd });
  expect(stderr).toContain("so --head is not possible. Use --merge-to-head or --branch NAME.");
  expect(exitCode).toBe(2);
});

describeWith(["bubblewrap"], "options that do not go together are named by their flags", () => {
  const run = async (cwd: string, ...flags: string[]) =>
    (await runCli(["run", ...AGENT, "--sandbox", "bubblewrap", ...flags], { cwd })).stderr;

  it("--copy with --head", async () => {
    expect(await run(temporaryRepository(), "--head", "--copy", "x")).toContain(
      "--copy: with --head there is no worktree",
    );
  });

  it("--branch of the checkout", async () => {
    expect(await run(temporaryRepository(), "--branch", "main")).toContain(
      "Use another branch, or --head to work in that checkout.",
    );
  });

  it("--head in the middle of a merge", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".git/MERGE_HEAD"), git(cwd, "rev-parse", "HEAD"));
    expect(await run(cwd, "--head")).toContain("Or use --merge-to-head or --branch NAME.");
  });
});

it("a flag that does not exist is answered with the nearest one", async () => {
  const { exitCode, stderr } = await runCli(["run", "--image", "x"], { cwd: temporaryRepository() });
  expect(stderr).toContain("unknown option '--image'. Did you mean --image-name?");
  expect(exitCode).toBe(2);
});

it.each<[Error, string]>([
  [new BranchInUseError("b", "x", "Use the `head` strategy."), "Use --head."],
  [new SandboxUserMismatchError("docker", 1, 2, "leave the `user` option out."), "leave --user out."],
  [
    new InvalidOptionsError("copyToWorktree", "see `completionTimeoutMs`"),
    "--copy: see --completion-timeout",
  ],
])("options in errors are flags: %s", (error, message) => {
  expect(messageOf(error)).toContain(message);
});
