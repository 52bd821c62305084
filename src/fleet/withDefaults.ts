import type { RunOptions } from "../options/runOptions.ts";
import { isObject } from "../tools/values/predicates.ts";
import { withoutUndefined } from "../tools/values/withoutUndefined.ts";

type AnyTask = Partial<RunOptions> & Readonly<Record<string, unknown>>;

/** Otherwise a task with a `promptFile` would also have the default `prompt`. */
const withoutPrompt = ({ prompt, promptFile, promptArgs, ...others }: AnyTask): AnyTask => others;

const hasPrompt = ({ prompt, promptFile }: AnyTask): boolean =>
  prompt !== undefined || promptFile !== undefined;

/**
 * Adds the default options to a task. The task's own values take precedence; env vars and prompt arguments are merged by
 * name. The task's own prompt replaces the default one together with its arguments.
 */
export const withDefaults = <Task>(defaults: object | undefined, task: Task): Task => {
  // `run()` refuses a task that is not an object.
  if (defaults === undefined || !isObject(task)) return task;
  const common = hasPrompt(task) ? withoutPrompt(defaults as AnyTask) : (defaults as AnyTask);
  const merged = (name: "env" | "promptArgs") =>
    isObject(common[name]) && isObject(task[name]) ? { [name]: { ...common[name], ...task[name] } } : {};
  const own: Task = withoutUndefined(task) as Task;
  return { ...common, ...own, ...merged("env"), ...merged("promptArgs") };
};
