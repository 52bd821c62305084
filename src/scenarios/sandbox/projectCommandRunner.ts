import type { Redact } from "../grading/finding.ts";
import type { Workplace } from "./commandRunner.ts";
import type { Workshop } from "./scenarioSandbox.ts";

export interface CommandPlace extends Workplace {
  /**
   * To be called before the project's files are looked at or changed on the host: then nothing in a sandbox can change
   * them meanwhile, and what was done in one with files of its own is there.
   */
  settle(): Promise<void>;
}

/**
 * A workplace for commands that is opened when the first of them comes. After it was closed, the next command gets a
 * new one, in which nothing of what ran before is left. What commands print is redacted.
 */
export const commandPlace = (workshop: Workshop, redact: Redact): CommandPlace => {
  let open: Promise<Workplace> | undefined;
  const close = async () => {
    const closing = open;
    open = undefined;
    // What could not be opened needs no closing, and has been told already.
    const place = await closing?.catch(() => undefined);
    await place?.close();
  };
  return {
    projectRoot: workshop.projectRoot,
    run: async (command) => {
      open ??= workshop.openForCommands(command.signal);
      const { stdout, stderr, ...result } = await (await open).run(command);
      return { ...result, stdout: redact(stdout), stderr: redact(stderr) };
    },
    settle: async () => {
      if (workshop.sandbox !== null) await close();
    },
    close,
  };
};
