import type { Redact } from "../grading/finding.ts";
import type { CommandRunner } from "./commandRunner.ts";
import type { ScenarioSandbox } from "./scenarioSandbox.ts";

export interface ProjectCommandRunner extends CommandRunner {
  /**
   * To be called before the project's files are looked at or changed on the host: then nothing in a sandbox can change
   * them meanwhile, and what was done in one with files of its own is there.
   */
  settle(): Promise<void>;
}

/**
 * A commandRunner for commands that is opened when the first of them comes. After it was closed, the next command gets a
 * new one, in which nothing of what ran before is left. What commands print is redacted.
 */
export const projectCommandRunner = (
  scenarioSandbox: ScenarioSandbox,
  redact: Redact,
): ProjectCommandRunner => {
  let open: Promise<CommandRunner> | undefined;
  const close = async () => {
    const closing = open;
    open = undefined;
    // What could not be opened needs no closing, and has been told already.
    const place = await closing?.catch(() => undefined);
    await place?.close();
  };
  return {
    projectRoot: scenarioSandbox.projectRoot,
    run: async (command) => {
      open ??= scenarioSandbox.openForCommands(command.signal);
      const { stdout, stderr, ...result } = await (await open).run(command);
      return { ...result, stdout: redact(stdout), stderr: redact(stderr) };
    },
    settle: async () => {
      if (scenarioSandbox.name !== null) await close();
    },
    close,
  };
};
