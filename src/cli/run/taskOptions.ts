import type { PromptArgs } from "../../index.ts";
import type { PromptOption, RunOptions } from "../../options/runOptions.ts";
import type { Project } from "../../project/findProject.ts";
import { withoutUndefined } from "../../tools/values/withoutUndefined.ts";
import { UsageError } from "../shared/usageError.ts";
import { readPrompt } from "./readPrompt.ts";
import { type RunFlags, settingsOf } from "./runFlags.ts";
import type { TaskValues } from "./taskLine.ts";

/** Options that belong together: a task that names an agent must not get the model of another one. */
const TOGETHER = [
  { by: ["agent", "agentCommand"], all: ["agent", "agentCommand", "model", "effort"] },
  { by: ["branch", "mergeToHead", "head"], all: ["branch", "from", "mergeToHead", "head"] },
] as const;

const inSeconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

/** Lines use the names and units of the library; flags are in seconds. */
const flagsOf = (task: TaskValues): Partial<RunFlags> => {
  const { $schema: _, promptArgs: __, copyToWorktree, artifacts, timeouts, ...others } = task;
  const { idleTimeoutSeconds, completionTimeoutMs, ...values } = others;
  const flags = {
    ...values,
    copy: copyToWorktree,
    artifact: artifacts,
    idleTimeout: idleTimeoutSeconds,
    completionTimeout: inSeconds(completionTimeoutMs),
    copyTimeout: inSeconds(timeouts?.copyToWorktreeMs),
    promptExpansionTimeout: inSeconds(timeouts?.promptExpansionMs),
  };
  return withoutUndefined(flags);
};

/** The flags for all tasks, overridden by the values of a task. */
const mergeFlags = (flags: RunFlags, task: TaskValues): RunFlags => {
  const values = flagsOf(task);
  const overridden: ReadonlySet<string> = new Set(
    TOGETHER.flatMap(({ by, all }) => (by.some((key) => values[key] !== undefined) ? all : [])),
  );
  const shared = Object.fromEntries(Object.entries(flags).filter(([key]) => !overridden.has(key)));
  return {
    // All new branches can start at the same commit.
    ...(values.branch !== undefined && { from: flags.from }),
    ...shared,
    ...values,
  } as RunFlags;
};

/** The prompt of a task: its own, or that of the flags. */
const promptOf = async (flags: RunFlags, values: TaskValues): Promise<PromptOption> => {
  const promptArgs = values.promptArgs as PromptArgs | undefined;
  const own = values.prompt !== undefined || values.promptFile !== undefined;
  if (values.prompt !== undefined && values.promptFile !== undefined) {
    throw new UsageError("prompt and promptFile exclude each other: remove one");
  }
  const promptFile = own ? values.promptFile : flags.promptFile;
  if (promptFile !== undefined) {
    const shared = await readPrompt({ ...flags, prompt: undefined, promptFile });
    return { promptFile, promptArgs: { ...shared.promptArgs, ...promptArgs } };
  }
  if (promptArgs !== undefined) {
    throw new UsageError("promptArgs sets {{KEY}} of a template, so it needs promptFile");
  }
  // Unchanged: here a hyphen is a prompt, and does not stand for standard input.
  if (values.prompt !== undefined) return { prompt: values.prompt };
  if (flags.prompt !== undefined) return { prompt: flags.prompt };
  throw new UsageError("there is no prompt: set prompt or promptFile, or pass --prompt for all tasks");
};

export const taskOptionsOf = async (
  flags: RunFlags,
  values: TaskValues,
  project: Project,
): Promise<RunOptions> => ({
  ...(await settingsOf(mergeFlags(flags, values), project)),
  ...(await promptOf(flags, values)),
});
