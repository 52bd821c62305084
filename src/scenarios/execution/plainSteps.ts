import { NoCliCommandError } from "../../errors/commandErrors.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { shorten } from "../../tools/shorten.ts";
import type { ProjectFiles } from "../project/projectFiles.ts";
import type { CommandRunner, ScenarioCommandResult } from "../sandbox/commandRunner.ts";
import type { FileText, PlainStep, ScenarioStep } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import { cliArguments } from "./cliArguments.ts";

export interface PlainStepContext {
  readonly commandRunner: CommandRunner;
  readonly files: ProjectFiles;
  readonly suite: ScenarioSuite;
  readonly baseUrl: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const MAX_NAME_CHARACTERS = 100;

const describe = (step: ScenarioStep): string => {
  if ("cli" in step) return ["cli:", step.cli, ...(step.flags ?? [])].join(" ");
  if ("cmd" in step) return `cmd: ${step.cmd.join(" ")}`;
  if ("append_to_file" in step) return `append_to_file: ${step.append_to_file.path}`;
  if ("write_file" in step) return `write_file: ${step.write_file.path}`;
  return `agent: ${step.agent}`;
};

/** The name of a step in a record: the one in the page, or a description of the step. */
export const stepName = (step: ScenarioStep): string => {
  if (step.name !== undefined) return step.name;
  return shorten(describe(step).replaceAll(/\s+/g, " "), MAX_NAME_CHARACTERS);
};

/** A file that cannot be written fails the step, not the runner: the page expects another project. */
const changeFile = async (
  { path, content }: FileText,
  done: string,
  change: (path: string, content: string) => Promise<void>,
): Promise<ScenarioCommandResult> => {
  try {
    await change(path, content);
    return { code: 0, stdout: `${done} ${path}`, stderr: "" };
  } catch (error) {
    return { code: 1, stdout: "", stderr: `${path}: ${reasonOf(error)}` };
  }
};

/** Performs a step that needs no agent. */
export const performPlainStep = async (
  step: PlainStep,
  work: PlainStepContext,
): Promise<ScenarioCommandResult> => {
  const { commandRunner, files, suite, baseUrl, timeoutMs, signal } = work;
  if ("append_to_file" in step) {
    return changeFile(step.append_to_file, "appended to", (path, content) => files.append(path, content));
  }
  if ("write_file" in step) {
    return changeFile(step.write_file, "wrote", (path, content) => files.write(path, content));
  }
  if ("cmd" in step) return commandRunner.run({ argv: step.cmd, timeoutMs, signal });
  if (suite.cliCommand === undefined) throw new NoCliCommandError(step.cli);
  const argv = cliArguments(suite.cliCommand, step, { projectRoot: commandRunner.projectRoot, baseUrl });
  return commandRunner.run({ argv, timeoutMs, signal });
};
