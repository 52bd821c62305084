import { relative } from "node:path";
import { Command } from "commander";
import { NotARepositoryError } from "../../errors.ts";
import { sandduneWords } from "../../process/ownCommand/sandduneCommand.ts";
import { findProject } from "../../project/findProject.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { SUITE_CWD_FLAG } from "../shared/cwdFlag.ts";
import { choices } from "../shared/flagChoices.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { UsageError } from "../shared/usageError.ts";
import { agentOptionsOf } from "./agentOptions.ts";

interface NewFlags {
  readonly cwd?: string;
  readonly config?: string;
  readonly runnable: string;
  readonly fixture: string;
  readonly json?: boolean;
}

const RUNNABLE = ["cli", "agent"] as const;

const checkRunnable = (name: string): (typeof RUNNABLE)[number] => {
  const known = RUNNABLE.find((each) => each === name);
  if (known !== undefined) return known;
  throw new UsageError(`--runnable: expected one of: ${RUNNABLE.join(", ")}; got ${JSON.stringify(name)}`);
};

/** What an agent needs to execute a new scenario. */
interface AgentNeeds {
  /** Flags without which the scenario would be `manual`. */
  readonly flags: readonly string[];
  /** Env vars of which the agent needs one. */
  readonly keys: readonly string[];
}

const hasSandbox = async (cwd: string | undefined): Promise<boolean> => {
  try {
    return (await findProject(cwd)).config.sandbox !== undefined;
  } catch (error) {
    // A suite need not be in a repository; then there is no config file.
    if (error instanceof NotARepositoryError) return false;
    throw error;
  }
};

const agentNeeds = async (cwd: string | undefined): Promise<AgentNeeds> => {
  const [{ chooseAgent }, { DRAFT_PLATFORM }] = await Promise.all([
    import("../../scenarios/agents/chooseAgent.ts"),
    import("../../scenarios/suite/scenarioDraft.ts"),
  ]);
  const chosen = chooseAgent(DRAFT_PLATFORM, agentOptionsOf({}, process.env));
  return {
    flags: (await hasSandbox(cwd)) ? [] : ["--sandbox", "docker"],
    keys: "manual" in chosen ? [] : (chosen.create().installation?.credentials ?? []),
  };
};

const NO_AGENT: AgentNeeds = { flags: [], keys: [] };

/** The command line that executes the new scenario. */
const runCommand = (
  id: string,
  dir: string | undefined,
  { cwd, config }: NewFlags,
  needs: AgentNeeds,
): string =>
  [
    ...sandduneWords("scenario", "run"),
    ...(dir === undefined ? [] : [dir]),
    `--only=${id}`,
    ...needs.flags,
    ...(config === undefined ? [] : ["--config", config]),
    ...(cwd === undefined ? [] : ["--cwd", cwd]),
  ]
    .map(shellQuote)
    .join(" ");

const perform = async (flags: NewFlags, id: string, dir: string | undefined): Promise<void> => {
  const { cwd, config, fixture } = flags;
  const runnable = checkRunnable(flags.runnable);
  const needs = runnable === "agent" ? await agentNeeds(cwd) : NO_AGENT;
  // Imported late: help and completions do not load the code that reads pages.
  const { newScenario } = await import("../../scenarios/suite/newScenario.ts");
  const files = await newScenario({ cwd, dir, config }, { id, runnable, fixture });
  const next = runCommand(id, dir, flags, needs);
  if (flags.json) return printJson({ files, next });
  const [page = "", ...others] = files.map((file) => relative(process.cwd(), file));
  await print(
    [
      `Created ${page}${others.length === 0 ? "" : ` with ${others.join(" and ")}`}`,
      "",
      "Next steps:",
      "  1. Describe your own steps and assertions in the page",
      ...(needs.keys.length === 0
        ? ["  2. Execute it"]
        : [
            "  2. Give the agent its key, in .sanddune/.env or the environment",
            `       ${needs.keys.join(" or ")}`,
            "  3. Execute it",
          ]),
      `       ${next}`,
    ].join("\n"),
  );
};

/** `sanddune scenario new`: writes the page of a new scenario. */
export const createScenarioNewCommand = (): Command =>
  withExamples(
    new Command("new")
      .description("Writes the page of a new scenario, as a starting point that can be executed.")
      .argument("<id>", "the scenario's id: letters, digits, dots and dashes")
      .argument("[dir]", "the directory of the pages (default: the config file's)")
      .addOption(
        choices(
          "--runnable <kind>",
          "what executes the steps: programs (cli), or an agent",
          RUNNABLE,
        ).default("cli"),
      )
      .option(
        "--fixture <dir>",
        "the directory to start from; created if it does not exist",
        "fixtures/empty",
      )
      .option("--config <file>", "the suite's config file (default: .sanddune/scenarios.json)")
      .option(...SUITE_CWD_FLAG)
      .option("--json", "print the created files as one JSON object")
      .action(performing(perform)),
    { title: "A scenario for a command-line tool", command: "sanddune scenario new install-twice" },
    {
      title: "A scenario for an agent, with its own fixture",
      command: "sanddune scenario new by-agent --runnable agent \\\n--fixture fixtures/node",
    },
  );
