import type { Redact } from "../grading/finding.ts";
import type { CommandRunner } from "./commandRunner.ts";
import type { ScenarioSandbox } from "./scenarioSandbox.ts";

export interface ProjectCommandRunner extends CommandRunner {
  /**
   * Call it before reading or changing the project's files on the host: then no process in a sandbox changes them,
   * and the files of an isolated sandbox are copied out.
   */
  settle(): Promise<void>;
}

/**
 * A command runner that is opened by its first command. After it was closed, the next command opens a new one, in
 * which no earlier process is running. Output is redacted.
 */
export const projectCommandRunner = (
  scenarioSandbox: ScenarioSandbox,
  redact: Redact,
): ProjectCommandRunner => {
  let open: Promise<CommandRunner> | undefined;
  const close = async () => {
    const closing = open;
    open = undefined;
    // If opening has failed, there is nothing to close, and the error has been reported.
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
