import { type Command, Option } from "commander";
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
    .addOption(choices("--agent <name>", "who does the work", agentNames))
    .option("--model <name>", "the model that the agent is to use")
    .option("--agent-command <line>", "the program for --agent command: the prompt is its standard input")
    .addOption(
      choices("--effort <level>", "how hard the model thinks, if the agent lets you choose", effortNames),
    )
    .option("--mcp-config <file>", 'JSON, { "mcpServers": … }: more tools for the agent')
    .option(
      "--resume-session <id>",
      "continue a session of the agent: its id is in the result of an earlier run",
    )
    .option("--fork-session", "continue in a copy of that session")
    .option("--no-capture-sessions", "leave the agent's sessions in the sandbox")
    .optionsGroup("Sandbox:")
    .addOption(choices("--sandbox <name>", "where the work is done", sandboxNames))
    .option("--env <name>", "pass this environment variable into the sandbox (repeatable)", collect);

/** Adds the flags of `sanddune run`, in the groups in which its help shows them. */
export const addRunFlags = (command: Command): Command =>
  addSettingFlags(addAgentFlags(command))
    .optionsGroup("Repository and branch:")
    .option("--cwd <dir>", "the repository, or a directory in it (default: the current directory)")
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
    .option(
      "--head",
      "work in the current checkout, on the current branch (default, if nothing there is uncommitted)",
    )
    .option("--copy <path>", "copy an untracked file or directory into the worktree (repeatable)", collect)
    .option("--copy-timeout <s>", "how long that may take (default: 60 s)", seconds)
    .option("--hooks <file>", "JSON, as the option hooks of run(): commands that prepare the work")
    .optionsGroup("Prompt:")
    .addOption(
      new Option("--prompt <text>", "the same as the argument; - reads standard input").conflicts(
        "promptFile",
      ),
    )
    .option(
      "--prompt-file <file>",
      "a file that holds a prompt template (default: .sanddune/prompt.md, if it is there)",
    )
    .option("--prompt-arg <key=value>", "fills in {{KEY}} of the template (repeatable)", collect)
    .option(
      "--prompt-expansion-timeout <s>",
      "how long each command of the template may take (default: 30 s)",
      seconds,
    )
    .optionsGroup("Tests:")
    .option("--environment <dir>", "tests of what the agent does, which it can run itself")
    .addOption(
      new Option(
        "--isolation <kind>",
        "shared: they run in the agent's sandbox; strict: in one of their own",
      ).choices(["shared", "strict"]),
    )
    .addOption(
      new Option("--until <what>", "continue until all tests pass, up to --max-iterations").choices([
        "tests-pass",
      ]),
    )
    .optionsGroup("Limits:")
    .option("--max-iterations <n>", "how often the agent is invoked at most (default: 1)", wholeNumber)
    .option("--completion-signal <text>", "what the agent says when it is done (repeatable)", collect)
    .option("--idle-timeout <s>", "stop an agent that is silent for so long (default: 600 s)", seconds)
    .option(
      "--completion-timeout <s>",
      "how long an agent may linger that says it is done (default: 30 s)",
      seconds,
    )
    .option("--max-tokens <n>", "stop the run once it has used more tokens", wholeNumber)
    .option("--max-cost-usd <n>", "stop the run once it has cost more, by --prices", numberAboveZero)
    .option("--prices <file>", "JSON, dollars a million tokens: inputPerMillion, outputPerMillion")
    .option(
      "--on-rate-limit <fail|s>",
      "fail, or wait so many seconds in all and go on (default: fail)",
      rateLimitAnswer,
    )
    .optionsGroup("Many tasks:")
    .option("--tasks <file>", "JSONL, one task a line, a run for each; - reads standard input")
    .option("--concurrency <n>", "how many runs at a time (default: one for each core)", wholeNumber)
    .option(
      "--retries <n>",
      "how often to try again when a sandbox is lost, or there is none for the moment (default: 0)",
      wholeNumberOrNone,
    )
    .optionsGroup("Output:")
    .option("--name <text>", "stands before every line that is shown of the run")
    .addOption(
      new Option(
        "--logging <where>",
        "stdout: show the run here; file: only say where its log is (default: stdout at a terminal)",
      ).choices(["file", "stdout"]),
    )
    .option("--verbose", "show what tools and hooks print; the run log has every line of the agent")
    .option(
      "--trajectory",
      "record what the agent does, with its files after each action, for sanddune replay",
    )
    .option(
      "--artifact <glob>",
      "with --trajectory: copy these files out of the sandbox (repeatable)",
      collect,
    )
    .option("--output-tag <tag>", "what the agent says in <tag>…</tag> is the output of the result")
    .option("--json", "print the result as one JSON object; with --tasks, one a line for each task");
