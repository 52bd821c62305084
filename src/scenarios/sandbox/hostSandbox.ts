import { environmentWithoutRepository } from "../../git/environmentWithoutRepository.ts";
import { killMarked } from "../../process/kill/killMarked.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { ON_HOST } from "../../sandboxes/directories/ownedDirectory.ts";
import { noSandbox } from "../../sandboxes/no-sandbox.ts";
import { createMark, hostCommandRunner } from "./hostCommandRunner.ts";
import { once } from "./once.ts";
import type { ScenarioSandbox, ScenarioSandboxOptions } from "./scenarioSandbox.ts";

const agentEnvironment = (mark: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(environmentWithoutRepository()).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  ),
  [SANDBOX_VARIABLE]: mark,
});

/** No sandbox: everything runs on the host, with the user's environment and home directory. */
export const hostSandbox = ({
  projectPath,
  runner,
}: Pick<ScenarioSandboxOptions, "projectPath" | "runner">): ScenarioSandbox => {
  const notedMark = (): string => {
    const mark = createMark();
    runner.noteSandbox(ON_HOST, mark);
    return mark;
  };
  return {
    name: null,
    projectRoot: projectPath,
    openForCommands: async () => hostCommandRunner(projectPath, notedMark()),
    openForAgent: async () => {
      const mark = notedMark();
      const handle = await noSandbox().create({
        worktreePath: projectPath,
        environment: agentEnvironment(mark),
      });
      return {
        handle,
        projectRoot: projectPath,
        close: once(async () => {
          await handle.close();
          await killMarked({ name: SANDBOX_VARIABLE, value: mark, directory: projectPath });
        }),
      };
    },
  };
};
