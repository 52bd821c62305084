import type { RunOptions } from "../options/runOptions.ts";
import { isObject } from "../tools/values/predicates.ts";
import { withoutUndefined } from "../tools/values/withoutUndefined.ts";

type AnyTask = Partial<RunOptions> & Readonly<Record<string, unknown>>;

/** A default of the other kind would be a second prompt. */
const withoutPrompt = ({ prompt, promptFile, promptArgs, ...others }: AnyTask): AnyTask => others;

const hasPrompt = ({ prompt, promptFile }: AnyTask): boolean =>
  prompt !== undefined || promptFile !== undefined;

/**
 * A task with the options that all tasks have in common. Its own values win; env vars and prompt arguments are merged by name. A
 * prompt of its own takes the place of the common one, arguments included.
 */
export const withDefaults = <Task>(defaults: object | undefined, task: Task): Task => {
  // What is wrong with one that is no object, `run()` says.
  if (defaults === undefined || !isObject(task)) return task;
  const common = hasPrompt(task) ? withoutPrompt(defaults as AnyTask) : (defaults as AnyTask);
  const merged = (name: "env" | "promptArgs") =>
    isObject(common[name]) && isObject(task[name]) ? { [name]: { ...common[name], ...task[name] } } : {};
  return { ...common, ...withoutUndefined(task), ...merged("env"), ...merged("promptArgs") };
};
