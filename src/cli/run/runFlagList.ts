import { type Command, Option } from "commander";
import { choices } from "../shared/flagChoices.ts";
import { agentNames, effortNames } from "./agentFlags.ts";
import { sandboxNames } from "./chosenSandbox.ts";
import {
  collect,
  collectHosts,
  collectMounts,
  numberAboveZero,
  rateLimitAnswer,
  seconds,
  wholeNumber,
  wholeNumberOrNone,
} from "./runValues.ts";

/** Adds the flags of `sanddune run`, in the groups in which its help shows them. */
export const addRunFlags = (command: Command): Command =>
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
    .option("--image-name <name>", "image of the container (default: sanddune:<the directory's name>)")
    .option("--network <name>", "network of the container (repeatable); bubblewrap: `host`, `none`", collect)
    .option(
      "--mount <host:path>",
      "show a host file or directory in the sandbox; host:path:ro for reading alone (repeatable)",
      collectMounts,
    )
    .option("--allow-unsafe-mounts", "let --mount show your home, an engine's socket, the checkout or .git")
    .option("--env <name>", "pass this environment variable into the sandbox (repeatable)", collect)
    .option("--memory <size>", "memory of the container, swap included, e.g. 4g")
    .option("--cpus <n>", "processors of the container, e.g. 1.5", numberAboveZero)
    .option("--pids <n>", "processes and threads of the container (default: 4096)", wholeNumber)
    .option(
      "--user <uid:gid>",
      "who commands in the container run as (default: you; with --host: the image's user)",
    )
    .option("--capability <name>", "a capability that the container is to have (repeatable)", collect)
    .addOption(
      new Option("--selinux-label <label>", "label of the container's mounts").choices(["z", "Z", "none"]),
    )
    .option("--engine-arg <arg>", "one more argument of docker run or podman run (repeatable)", collect)
    .option(
      "--host <url>",
      "docker or podman on another machine: ssh://user@machine, tcp://machine:port (repeatable)",
      collectHosts,
    )
    .option("--lifetime <seconds>", "how long a sandbox on another machine may last at most", seconds)
    .option("--read-only-path <dir>", "one more directory with programs for bubblewrap (repeatable)", collect)
    .option("--path <dirs>", "PATH in bubblewrap")
    .option("--namespace <name>", "where kubernetes makes the pod (default: that of the context)")
    .option("--context <name>", "the cluster, by its context in the kubeconfig (default: the current one)")
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
