import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { OBEDIENT_AGENT, repositoryWithAgent } from "../fixtures.ts";

const RUN = ["run", "--agent", "command", "--agent-command", "sh ./agent.sh", "--sandbox", "bubblewrap"];

const dirtyRepository = (): string => {
  const cwd = repositoryWithAgent(OBEDIENT_AGENT);
  writeFileSync(join(cwd, "README.md"), "# Half a sentence\n");
  writeFileSync(join(cwd, "draft.txt"), "draft\n");
  return cwd;
};

describeWith(["bubblewrap"], "sanddune run without a strategy", () => {
  test("refuses a checkout with uncommitted changes, and names the three flags", async () => {
    const cwd = dirtyRepository();
    const head = git(cwd, "rev-parse", "HEAD");
    const { exitCode, stdout, stderr } = await runCli([...RUN, "--prompt", "x"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("README.md, draft.txt");
    for (const flag of ["--head", "--merge-to-head", "--branch NAME"]) expect(stderr).toContain(flag);
    expect(git(cwd, "rev-parse", "HEAD")).toBe(head);
    expect(leftovers(cwd)).toEqual([]);
  });

  test("--head works in it, with a warning", async () => {
    const cwd = dirtyRepository();
    const { exitCode, stdout } = await runCli([...RUN, "--head", "--prompt", "x", "--json"], { cwd });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      warnings: [
        expect.stringMatching(/uncommitted changes: README\.md, draft\.txt/),
        expect.stringMatching(/had not committed: README\.md, draft\.txt/),
      ],
      committedUserPaths: ["README.md", "draft.txt"],
    });
  });

  test.each([["--merge-to-head"], ["--branch", "agent/x"]])(
    "%s leaves the changes alone",
    async (...flags) => {
      const cwd = dirtyRepository();
      const before = git(cwd, "status", "--porcelain");
      const { exitCode } = await runCli([...RUN, ...flags, "--prompt", "x"], { cwd });
      expect(exitCode).toBe(0);
      expect(git(cwd, "status", "--porcelain")).toBe(before);
    },
  );

  test("works in a clean checkout", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const { exitCode } = await runCli([...RUN, "--prompt", "x"], { cwd });
    expect(exitCode).toBe(0);
  });

  test("refuses the lines of a task file that leave it out", async () => {
    const cwd = dirtyRepository();
    const tasks = join(cwd, ".git", "tasks.jsonl");
    writeFileSync(tasks, '{"prompt":"a","branch":"agent/a"}\n{"prompt":"b"}\n');
    const { exitCode, stderr } = await runCli([...RUN, "--tasks", tasks], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${tasks}:2: `);
    expect(stderr).toContain("--merge-to-head");
    expect(git(cwd, "branch", "--list", "agent/a")).toBe("");
  });
});
