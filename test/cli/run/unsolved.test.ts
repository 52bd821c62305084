import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { greetingEnvironment } from "../../helpers/environments.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { repositoryWithAgent, subjectsOf } from "../fixtures.ts";

/** Greets as the prompt says. */
const AGENT = "cat >hello.txt; git add . && git commit --quiet -m Greet";

const run = (cwd: string, ...flags: string[]) =>
  runCli(
    [
      ...["run", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap", "--merge-to-head"],
      ...["--environment", greetingEnvironment(), "--until", "tests-pass", ...flags],
    ],
    { cwd },
  );

describeWith(["bubblewrap"], "sanddune run --until tests-pass", () => {
  it("exits with 3 if the tests do not pass, merges nothing, and differs from a run that succeeded", async () => {
    const cwd = repositoryWithAgent(AGENT);
    const wrong = await run(cwd, "--prompt", "goodbye\n");
    expect(wrong.exitCode).toBe(3);
    expect(wrong.stdout).toMatch(/^Solved +no$/m);
    expect(wrong.stdout).toMatch(/^Tests +1 of 2 passed$/m);
    expect(wrong.stdout).toMatch(/^Warning .*git merge /m);
    expect(subjectsOf(cwd, "main")[0]).toBe("Add the agent");

    const inJson = await run(cwd, "--prompt", "goodbye\n", "--json");
    expect(inJson.exitCode).toBe(3);
    expect(JSON.parse(inJson.stdout)).toMatchObject({ solved: false });

    const right = await run(cwd, "--prompt", "hello\n", "--json");
    expect(right.exitCode).toBe(0);
    expect(JSON.parse(right.stdout)).toMatchObject({ solved: true, branch: "main" });

    const { stdout } = await runCli(["ps"], { cwd });
    expect(stdout.match(/unsolved|succeeded/g)).toEqual(["succeeded", "unsolved", "unsolved"]);
    const listed = JSON.parse((await runCli(["ps", "--json"], { cwd })).stdout);
    expect(listed).toMatchObject([{ solved: true }, { solved: false }, { solved: false }]);
    const { runId } = listed.at(-1) as { runId: string };
    expect((await runCli(["stop", runId], { cwd })).stdout).toContain("had already ended: it is unsolved");
  });

  it("with --tasks counts runs that are unsolved by themselves, and exits with 3 unless another one failed", async () => {
    const cwd = repositoryWithAgent(`${AGENT}; ! grep -q fail hello.txt`);
    const tasks = (...prompts: string[]): string => {
      const path = join(temporaryDirectory(), "tasks.jsonl");
      writeFileSync(path, prompts.map((prompt) => `${JSON.stringify({ prompt })}\n`).join(""));
      return path;
    };
    const unsolved = await run(cwd, "--tasks", tasks("hello\n", "goodbye\n"));
    expect(unsolved.exitCode).toBe(3);
    expect(unsolved.stdout).toMatch(/^task 2 +unsolved +sanddune\//m);
    expect(unsolved.stdout).toMatch(/^1 succeeded, 1 unsolved$/m);
    expect(unsolved.stderr).toMatch(/✗ task 2 {2}unsolved .*\n.*1 of 2 tests pass.*\n +log: /);
    const failed = await run(cwd, "--tasks", tasks("fail", "goodbye\n"));
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toMatch(/^0 succeeded, 1 unsolved, 1 failed$/m);
  });
});
