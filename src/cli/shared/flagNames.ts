import { flagOf as flagOfSetting } from "../../sandboxes/description/settings.ts";
import { sandboxProviders } from "../../sandboxes/registry.ts";

/** Options of `run()` and of the providers whose flags have the same name. */
const SAME_NAMES = [
  ...["cwd", "agent", "model", "effort", "sandbox", "prompt", "promptFile", "maxIterations"],
  ...["completionSignal", "resumeSession", "forkSession", "maxTokens", "maxCostUsd", "prices"],
  ...["onRateLimit", "hooks", "env", "name", "logging", "environment", "until", "trajectory"],
  ...["only", "runnable"],
];

export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Options of sandbox providers. */
const SETTING_FLAGS = sandboxProviders
  .flatMap(({ settings }) => Object.entries(settings))
  .map(([name, setting]) => [setting.option ?? name, flagOfSetting(setting)] as const);

const FLAGS: ReadonlyMap<string, string> = new Map([
  ...SAME_NAMES.map((name) => [name, `--${kebabCase(name)}`] as const),
  ["ciUrl", "--ci"],
  ["scenarioDir", "the directory of the pages"],
  ["thinking", "--effort"],
  ...SETTING_FLAGS,
  ["branchStrategy", "--branch, --merge-to-head, --head"],
  ["head", "--head"],
  ["merge-to-head", "--merge-to-head"],
  ["branch", "--branch NAME"],
  ["from", "--from"],
  ["branchStrategy.branch", "--branch"],
  ["branchStrategy.from", "--from"],
  ["copyToWorktree", "--copy"],
  ["promptArgs", "--prompt-arg"],
  ["idleTimeoutSeconds", "--idle-timeout"],
  ["completionTimeoutMs", "--completion-timeout"],
  ["timeouts.copyToWorktreeMs", "--copy-timeout"],
  ["timeouts.promptExpansionMs", "--prompt-expansion-timeout"],
  ["mcpServers", "--mcp-config"],
  ["environment.path", "--environment"],
  ["environment.isolation", "--isolation"],
  ["output.tag", "--output-tag"],
  ["tag", "--output-tag"],
  ["trajectory.artifacts", "--artifact"],
]);

const ENV_VAR = /^[A-Z][A-Z0-9_]*$/;

/** The flag that sets an option; what has none, a file or an env var for instance, keeps its name. */
export const flagOf = (option: string): string => {
  if (ENV_VAR.test(option)) return option;
  const flag = FLAGS.get(option);
  if (flag !== undefined) return flag;
  const [, root = "", member] = /^(\w*)(?:\.(.+))?$/s.exec(option) ?? [];
  if (member === undefined) return root === "" ? option : `--${kebabCase(root)}`;
  // What the file of a flag holds.
  const file = FLAGS.get(root);
  return file === undefined ? option : `${file}, ${member}`;
};

/** A sentence of the library's in which options are named as flags. */
export const inFlags = (sentence: string): string =>
  sentence.replace(
    /(?:the )?`([\w.-]+)(?:: true)?`(?: strategy| option)?/g,
    (quoted, option) => FLAGS.get(option) ?? quoted,
  );
