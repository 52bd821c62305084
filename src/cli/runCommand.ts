import { Command } from "commander";
import { withExamples } from "./helpExamples.ts";
import { tell } from "./output.ts";
import { reportError } from "./reportError.ts";
import { reportResult } from "./reportResult.ts";
import { addRunFlags } from "./runFlagList.ts";
import type { RunFlags } from "./runFlags.ts";
import { abortOnStopSignals } from "./stopSignals.ts";

const perform = async (flags: RunFlags): Promise<void> => {
  const json = flags.json ?? false;
  let answer = { json, isShown: false };
  try {
    // Only now: whoever wants the help, or a completion, does not wait for the engine.
    const [{ runOptionsOf }, { run }] = await Promise.all([import("./runFlags.ts"), import("../run.ts")]);
    const options = await runOptionsOf(flags);
    using stop = abortOnStopSignals();
    if (options.logging?.type === "stdout") answer = { json, isShown: true };
    await tell(`Running the agent ${options.agent.name} in ${options.sandbox.name} …`);
    await reportResult(await run({ ...options, signal: stop.signal }), answer);
  } catch (error) {
    process.exitCode = await reportError(error, answer);
  }
};

const NOTES = `
Agent, model, sandbox and image are those of .sanddune/config.json, which
sanddune init writes, unless a flag says otherwise.

Exit codes:
  0  the run succeeded      2  bad usage: nothing was started
  1  the run failed         130, 143  stopped by Ctrl-C, by SIGTERM`;

/** `sanddune run`: flags in, one call of `run()`, its result out. */
export const createRunCommand = (): Command =>
  withExamples(
    addRunFlags(
      new Command("run").description(
        "Runs an agent on a prompt in a sandbox; its commits end up on a branch of this repository.",
      ),
    ),
    {
      title: "With what sanddune init has set up, and .sanddune/prompt.md",
      command: "sanddune run --branch agent/fix-42 --prompt-file .sanddune/prompt.md",
    },
    {
      title: "Claude Code in a container of your image, with your ANTHROPIC_API_KEY",
      command: `sanddune run --agent claude-code --model claude-opus-4-8 \\
        --sandbox docker --branch agent/fix-42 --prompt 'Fix issue 42'`,
    },
    {
      title: "A script as the agent, its commits on a branch of their own",
      command: `sanddune run --agent-command 'sh ./agent.sh' --sandbox bubblewrap \\
        --branch agent/fix-42 --prompt 'Fix issue 42'`,
    },
    {
      title: "The prompt from a pipe, the result for a program",
      command: `gh issue view 42 | sanddune run --merge-to-head --prompt - --json`,
    },
  )
    .addHelpText("after", NOTES)
    .action(perform);
