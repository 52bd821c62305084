import { Command, InvalidArgumentError, Option } from "commander";
import { run } from "../run.ts";
import { agentRegistry } from "./agentRegistry.ts";
import { tell } from "./output.ts";
import { reportError } from "./reportError.ts";
import { reportResult } from "./reportResult.ts";
import { type RunFlags, runOptionsOf } from "./runFlags.ts";
import { runHelp } from "./runHelp.ts";
import { sandboxRegistry } from "./sandboxRegistry.ts";
import { abortOnStopSignals } from "./stopSignals.ts";

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 1 or more.");
  return Number(text);
};

const seconds = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0))
    throw new InvalidArgumentError("It must be a number of seconds above 0.");
  return value;
};

const collect = (item: string, items: string[] = []): string[] => [...items, item];

const perform = async (flags: RunFlags): Promise<void> => {
  const json = flags.json ?? false;
  let answer = { json, isShown: false };
  try {
    const options = await runOptionsOf(flags);
    using stop = abortOnStopSignals();
    if (options.logging?.type === "stdout") answer = { json, isShown: true };
    await tell(`Running the agent ${options.agent.name} in ${options.sandbox.name} …`);
    await reportResult(await run({ ...options, signal: stop.signal }), answer);
  } catch (error) {
    process.exitCode = await reportError(error, answer);
  }
};

/** `sanddune run`: flags in, one call of `run()`, its result out. */
export const createRunCommand = (): Command =>
  new Command("run")
    .description("Runs an agent on a prompt in a sandbox; its commits end up on a branch of this repository.")
    .option("--cwd <dir>", "the repository, or a directory in it (default: the current directory)")
    .option("--agent <name>", `who does the work: ${Object.keys(agentRegistry).join(", ")}`)
    .option("--model <name>", "the model that the agent is to use")
    .option("--agent-command <line>", "the program for --agent command")
    .option("--sandbox <name>", `where it is done: ${Object.keys(sandboxRegistry).join(", ")}`)
    .option(
      "--image <name>",
      "image of the container (default: sanddune:<name of the repository's directory>)",
    )
    .option("--network <name>", "network of the container; `host` for bubblewrap")
    .addOption(
      new Option("--branch <name>", "commit to this branch, which is made if need be").conflicts([
        "mergeToHead",
        "head",
      ]),
    )
    .option("--from <ref>", "where a new --branch starts (default: HEAD)")
    .addOption(
      new Option(
        "--merge-to-head",
        "commit to a temporary branch, then merge it into the current one",
      ).conflicts("head"),
    )
    .option("--head", "work in the current checkout, on the current branch (default)")
    .addOption(
      new Option("--prompt <text>", "the prompt; - reads it from standard input").conflicts("promptFile"),
    )
    .option("--prompt-file <file>", "a file that holds a prompt template")
    .option("--prompt-arg <key=value>", "fills in {{KEY}} of the template (repeatable)", collect)
    .option("--max-iterations <n>", "how often the agent is invoked at most (default: 1)", wholeNumber)
    .option("--completion-signal <text>", "what the agent says when it is done (repeatable)", collect)
    .option("--idle-timeout <seconds>", "stop an agent that is silent for so long (default: 600)", seconds)
    .option("--resume-session <id>", "go on with a session of the agent's, see the result of an earlier run")
    .option("--fork-session", "go on in a copy of that session")
    .option("--max-tokens <n>", "stop the run once it has used more tokens", wholeNumber)
    .option("--copy <path>", "copy an untracked file or directory into the worktree (repeatable)", collect)
    .option("--env <name>", "let this variable of yours into the sandbox (repeatable)", collect)
    .option("--name <text>", "stands before every line that is shown of the run")
    .addOption(
      new Option(
        "--logging <where>",
        "file: a run log; stdout: here (default: stdout at a terminal)",
      ).choices(["file", "stdout"]),
    )
    .option("--verbose", "show every line that the agent and its tools print")
    .option("--json", "print the result as one JSON object")
    .addHelpText("after", runHelp)
    .action(perform);
