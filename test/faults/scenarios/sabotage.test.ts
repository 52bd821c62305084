import { expect, test } from "vitest";
import { AgentFailedError } from "../../../src/index.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { sandboxFlags } from "../../cli/runs/hangingRuns.ts";
import { makeSuite, recordOf, resultsIn, runScenarios, spec } from "../../cli/scenario/scenarioSuites.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, play, STRATEGIES, shell } from "../../security/support.ts";

useOwnTemporaryDirectory();

const SABOTAGE: [string, string][] = [
  ["kills every process", "kill -9 -1; sleep 1000"],
  ["deletes all programs and kills every process", "rm -rf /bin/* /usr/bin/* /usr/local/bin/*; kill -9 -1"],
];

// As root, which is who commands run as when root starts them.
describeWith(["docker", "root"], "an agent that", () => {
  test.each(SABOTAGE)("%s in its container is graded as failing, with a record", async (_, script) => {
    const cwd = makeSuite({
      pages: { a: spec({ runnable: "agent", steps: [{ agent: "work", prompt: "Please." }] }) },
      files: { "fixtures/base/agent.sh": `echo done > ruined.txt\n${script}\n` },
    });
    const flags = ["--runnable=agent", "--agent-command", "sh ./agent.sh", ...sandboxFlags("docker")];
    expect(await runScenarios(cwd, flags)).toMatchObject({ exitCode: 1 });
    expect(resultsIn(cwd)).toEqual({ a: "failing" });
    const record = recordOf(cwd, "a");
    expect(record.steps.at(-1)).toMatchObject({ name: "agent: work", exit_code: 137 });
    expect(record.assertions).toMatchObject([{ ok: true }]);
  });

  test("kills every process in its container has failed, and its commits are on the branch", async () => {
    const cwd = temporaryRepository();
    const options = { branchStrategy: STRATEGIES.branch, sandbox: docker({ imageName: TEST_IMAGE }) };
    const steps = [{ commit: "Work", files: { "a.txt": "a\n" } }, shell("kill -9 -1; sleep 1000")];
    const error = await failureOf(play(cwd, steps, options));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error).toMatchObject({ exitCode: 137, commits: [{}] });
    expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Work");
  });
});
