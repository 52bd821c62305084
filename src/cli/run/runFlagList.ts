import { type Command, Option } from "commander";
import { CWD_FLAG } from "../shared/cwdFlag.ts";
import { choices } from "../shared/flagChoices.ts";
import { agentNames, effortNames } from "./agentFlags.ts";
import { sandboxNames } from "./chosenSandbox.ts";
import {
  collect,
  numberAboveZero,
  rateLimitAnswer,
  seconds,
  wholeNumber,
  wholeNumberOrNone,
} from "./runValues.ts";
import { addSettingFlags } from "./sandboxFlags.ts";

const addAgentFlags = (command: Command): Command =>
  command
    .optionsGroup("Agent:")
    .addOption(choices("--agent <name>", "the agent", agentNames))
    .option("--model <name>", "the model of the agent")
    .option("--agent-command <line>", "the command line for --agent command; it reads the prompt from stdin")
    .addOption(choices("--effort <level>", "reasoning effort, if the agent supports it", effortNames))
    .option("--mcp-config <file>", 'JSON file with { "mcpServers": … }: more tools for the agent')
    .option(
      "--resume-session <id>",
      "continue the agent session with this id, from the result of an earlier run",
    )
    .option("--fork-session", "continue in a copy of that session")
    .option("--no-capture-sessions", "leave the agent's sessions in the sandbox")
    .optionsGroup("Sandbox:")
    .addOption(choices("--sandbox <name>", "the sandbox", sandboxNames))
    .option("--env <name>", "pass this environment variable into the sandbox (repeatable)", collect);

/** Adds the flags of `sanddune run`, in the groups in which its help shows them. */
export const addRunFlags = (command: Command): Command =>
  addSettingFlags(addAgentFlags(command))
    .optionsGroup("Repository and branch:")
    .option(...CWD_FLAG)
    .addOption(
      new Option("--branch <name>", "commit to this branch; created if it does not exist").conflicts([
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
    .option(
      "--head",
      "work in the current checkout, on the current branch (default if it has no uncommitted changes)",
    )
    .option("--copy <path>", "copy an untracked file or directory into the worktree (repeatable)", collect)
    .option("--copy-timeout <s>", "timeout of --copy (default: 60 s)", seconds)
    .option("--hooks <file>", "JSON file with hooks, as in run(): commands that prepare the sandbox")
    .option("--no-cache", "run all hooks, and keep nothing of what they do")
    .optionsGroup("Prompt:")
    .addOption(
      new Option("--prompt <text>", "the same as the argument; - reads standard input").conflicts(
        "promptFile",
      ),
    )
    .option(
      "--prompt-file <file>",
      "file with a prompt template (default: .sanddune/prompt.md, if it exists)",
    )
    .option("--prompt-arg <key=value>", "value for {{KEY}} in the template (repeatable)", collect)
    .option(
      "--prompt-expansion-timeout <s>",
      "timeout of each shell expression in the template (default: 30 s)",
      seconds,
    )
    .optionsGroup("Tests:")
    .option("--environment <dir>", "folder with tests that the agent can run")
    .addOption(
      new Option(
        "--isolation <kind>",
        "shared: tests run in the agent's sandbox; strict: in a separate sandbox",
      ).choices(["shared", "strict"]),
    )
    .addOption(
      new Option("--until <what>", "continue until all tests pass, up to --max-iterations").choices([
        "tests-pass",
      ]),
    )
    .optionsGroup("Limits:")
    .option("--max-iterations <n>", "maximum number of iterations (default: 1)", wholeNumber)
    .option("--completion-signal <text>", "text that the agent prints when it is done (repeatable)", collect)
    .option("--idle-timeout <s>", "stop an agent that prints nothing for this long (default: 600 s)", seconds)
    .option(
      "--completion-timeout <s>",
      "how long processes may run after the agent is done (default: 30 s)",
      seconds,
    )
    .option("--max-tokens <n>", "stop the run when it has used more tokens", wholeNumber)
    .option("--max-cost-usd <n>", "stop the run when it has cost more, by --prices", numberAboveZero)
    .option("--prices <file>", "JSON file with USD per million tokens: inputPerMillion, outputPerMillion")
    .option(
      "--on-rate-limit <fail|s>",
      "fail, or wait up to this many seconds in total (default: fail)",
      rateLimitAnswer,
    )
    .optionsGroup("Many tasks:")
    .option("--tasks <file>", "JSONL file with one task per line; - reads standard input")
    .option("--concurrency <n>", "maximum number of parallel runs (default: one for each core)", wholeNumber)
    .option(
      "--retries <n>",
      "retries when a sandbox is lost or not available at the moment (default: 0)",
      wholeNumberOrNone,
    )
    .optionsGroup("Output:")
    .option("--name <text>", "prefix for every line that is shown of the run")
    .addOption(
      new Option(
        "--logging <where>",
        "stdout: show the run here; file: only print the path of its log (default: stdout at a terminal)",
      ).choices(["file", "stdout"]),
    )
    .option("--verbose", "show the output of tools and hooks; log every line of the agent")
    .option("--trajectory", "record the run, with its files after each action, for sanddune replay")
    .option(
      "--artifact <glob>",
      "with --trajectory: copy these files out of the sandbox (repeatable)",
      collect,
    )
    .option("--output-tag <tag>", "return the agent's text in <tag>…</tag> as the output")
    .option("--json", "print the result as one JSON object; with --tasks, one line for each task");
