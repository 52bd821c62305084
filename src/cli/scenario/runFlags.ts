import { type Command, InvalidArgumentError, Option } from "commander";
import type { RunnableFilter } from "../../scenarios/contract.ts";
import { RUNNABLE_FILTERS } from "../../scenarios/execution/executions.ts";
import { agentNames } from "../run/agentFlags.ts";
import { sandboxNames } from "../run/chosenSandbox.ts";
import { collect, wholeNumber } from "../run/runValues.ts";
import { addGeneralFlags, type SandboxFlags } from "../run/sandboxFlags.ts";
import { SUITE_CWD_FLAG } from "../shared/cwdFlag.ts";
import { choices } from "../shared/flagChoices.ts";

/** The explicit way to let an agent work on the host itself. */
export const NO_SANDBOX = "none";

/** The flags of `sanddune scenario run`, as the parser hands them over. */
export interface ScenarioRunFlags extends SandboxFlags {
  readonly cwd?: string;
  readonly config?: string;
  readonly runnable?: RunnableFilter;
  readonly only?: readonly string[];
  readonly baseUrl?: string;
  readonly keepTmp?: boolean;
  readonly ci?: string;
  readonly concurrency?: number;
  readonly repeat?: number;
  readonly keep?: number;
  readonly report?: readonly string[];
  readonly agent?: string;
  readonly model?: string;
  readonly agentCommand?: string;
  readonly json?: boolean;
}

const names = (text: string, more: readonly string[] = []): readonly string[] => {
  const own = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  // Most often a variable that is not set: that must not mean all of them, nor none.
  if (own.length === 0) throw new InvalidArgumentError("It is empty: write the ids of scenarios.");
  return [...more, ...own];
};

/** Which scenarios are executed, how, by whom and where. */
const addExecutionFlags = (command: Command): Command =>
  command
    .optionsGroup("Scenarios:")
    .addOption(
      new Option("--runnable <kind>", "those that this can execute (default: cli; with --only: any)").choices(
        RUNNABLE_FILTERS,
      ),
    )
    .option("--only <ids>", "just these, with commas in between (repeatable)", names)
    .option("--config <file>", "the suite's config file (default: .sanddune/scenarios.json)")
    .option(...SUITE_CWD_FLAG)
    .optionsGroup("Execution:")
    .option("--base-url <url>", "where the tested product is fetched from, instead of a local mirror")
    .option("--concurrency <n>", "how many scenarios at a time (default: one for each core)", wholeNumber)
    .option("--repeat <n>", "execute each so often, to see whether its result changes", wholeNumber)
    .option("--keep-tmp", "keep the projects, to look at what has become of them")
    .optionsGroup("Agent:")
    .addOption(choices("--agent <name>", "who does the agent's steps (default: ide_platform)", agentNames))
    .option("--model <name>", "the model that the agent is to use")
    .option("--agent-command <line>", "the program for --agent command: the prompt is its standard input")
    .optionsGroup("Sandbox:")
    .addOption(
      choices("--sandbox <name>", "where everything is done; none: on this machine itself", [
        ...sandboxNames,
        NO_SANDBOX,
      ]),
    );

export const addScenarioRunFlags = (command: Command): Command =>
  addGeneralFlags(addExecutionFlags(command))
    .optionsGroup("Records:")
    .option("--ci <url>", "the CI run that this is part of: stands in every record")
    .option(
      "--keep <n>",
      "keep only the newest n records of each scenario, and all of this suite run",
      wholeNumber,
    )
    .option(
      "--report <file>",
      "report what was executed, too: .html, .xml (JUnit) or .md (repeatable)",
      collect,
    )
    .option("--json", "print the results as one JSON object");
