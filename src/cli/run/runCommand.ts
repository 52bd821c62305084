import { Command } from "commander";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import { findProject } from "../../project/findProject.ts";
import { shorten } from "../../tools/shorten.ts";
import { asConfigError } from "../project/configured.ts";
import { EXIT_UNSOLVED } from "../shared/exitCodes.ts";
import { kebabCase } from "../shared/flagNames.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { tell } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { reportError } from "../shared/reportError.ts";
import { stopOnSignals } from "../shared/stopSignals.ts";
import { UsageError } from "../shared/usageError.ts";
import { PROMPT_FILE } from "./readPrompt.ts";
import { reportResult } from "./reportResult.ts";
import { addRunFlags } from "./runFlagList.ts";
import type { RunFlags } from "./runFlags.ts";

const DEFAULT_PROMPT = `${CONFIG_DIRECTORY_NAME}/${PROMPT_FILE}`;

const FOR_TASKS = ["concurrency", "retries"] as const;

const performOne = async (flags: RunFlags): Promise<void> => {
  const json = flags.json ?? false;
  let answer = { json, isShown: false, cwd: flags.cwd };
  try {
    const stray = FOR_TASKS.find((name) => flags[name] !== undefined);
    if (stray !== undefined) throw new UsageError(`--${stray} needs --tasks FILE`);
    // Imported here, so that the help and completions do not wait for the engine.
    const [{ runOptionsOf }, { runChecked }] = await Promise.all([
      import("./runFlags.ts"),
      import("../../run.ts"),
    ]);
    const project = await findProject(flags.cwd);
    const options = await runOptionsOf(flags, project);
    using stop = stopOnSignals();
    if (options.logging?.type === "stdout") answer = { ...answer, isShown: true };
    // After the checks: a mistake on the command line is the only thing to report then.
    const source =
      options.promptFile === undefined || flags.promptFile !== undefined ? "" : ` on ${DEFAULT_PROMPT}`;
    const begin = () => tell(`Running the agent ${options.agent.name} in ${options.sandbox.name}${source} …`);
    const result = await runChecked({ ...options, signal: stop.signal }, begin).catch((error) =>
      Promise.reject(asConfigError(error, project, flags)),
    );
    await reportResult(result, answer);
    if (result.solved === false) process.exitCode = EXIT_UNSOLVED;
  } catch (error) {
    process.exitCode = await reportError(error, answer);
  }
};

/** The prompt may be an argument, because it is typed most often. */
const withPrompt = (argument: string | undefined, flags: RunFlags): RunFlags => {
  if (argument === undefined) return flags;
  const other = (["prompt", "promptFile"] as const).find((name) => flags[name] !== undefined);
  if (other === undefined) return { ...flags, prompt: argument };
  const shown = shorten(argument, 40);
  throw new UsageError(
    `There are two prompts, ${JSON.stringify(shown)} and --${kebabCase(other)}: remove one`,
  );
};

const perform = performing(async (given: RunFlags, prompt: string | undefined): Promise<void> => {
  const flags = withPrompt(prompt, given);
  if (flags.tasks === undefined) return performOne(flags);
  const { performTasks } = await import("./runTasks.ts");
  return performTasks(flags.tasks, flags);
});

const NOTES = `
Defaults for agent, model, sandbox and image come from .sanddune/config.json,
which sanddune init writes.

Each line of --tasks is a JSON object. Its keys are the options of run():
prompt or promptFile, promptArgs, branch, name, model, maxIterations and so on.
Flags apply to all tasks that do not set the option.

Exit codes:
  0  the run succeeded; with --tasks, all runs
  1  the run failed; with --tasks, at least one run
  2  bad usage: nothing was started
  3  with --until tests-pass: the tests do not all pass, and nothing was merged;
     with --tasks: at least one such run, and no failed run
  130, 143  stopped by Ctrl-C, by SIGTERM`;

/** `sanddune run`: flags in, one call of `run()`, its result out. */
export const createRunCommand = (): Command =>
  withExamples(
    addRunFlags(
      new Command("run")
        .description("Runs an agent on a prompt in a sandbox, and imports its commits into a branch.")
        .argument("[prompt]", "the prompt; - reads it from standard input"),
    ),
    {
      title: "With the defaults of sanddune init",
      command: "sanddune run --branch agent/fix-42 'Fix issue 42'",
    },
    { title: "The same, with the prompt in .sanddune/prompt.md", command: "sanddune run --branch agent/x" },
    {
      title: "Claude Code in a container of your image, with your ANTHROPIC_API_KEY",
      command: `sanddune run --agent claude-code --model claude-opus-4-8 \\
        --sandbox docker --branch agent/fix-42 'Fix issue 42'`,
    },
    {
      title: "A script as the agent, with its commits on a new branch",
      command: `sanddune run --agent-command 'sh ./agent.sh' --sandbox bubblewrap \\
        --branch agent/fix-42 'Fix issue 42'`,
    },
    {
      title: "The prompt from a pipe, the result as JSON",
      command: `gh issue view 42 \\\n| sanddune run --merge-to-head --json -`,
    },
    {
      title: "One run for each line of a file, eight at a time",
      command: "sanddune run --tasks tasks.jsonl --concurrency 8 --retries 1",
    },
  )
    .addHelpText("after", NOTES)
    .action(perform);
