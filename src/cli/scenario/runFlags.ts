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

/** The parsed flags of `sanddune scenario run`. */
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
  // Usually an unset variable: it must not select all scenarios.
  if (own.length === 0) throw new InvalidArgumentError("It is empty. Write the ids of scenarios.");
  return [...more, ...own];
};

/** Flags that choose the scenarios, their agent and their sandbox. */
const addExecutionFlags = (command: Command): Command =>
  command
    .optionsGroup("Scenarios:")
    .addOption(
      new Option(
        "--runnable <kind>",
        "scenarios for this kind of runner (default: cli; with --only: any)",
      ).choices(RUNNABLE_FILTERS),
    )
    .option("--only <ids>", "only these scenarios, separated by commas (repeatable)", names)
    .option("--config <file>", "the suite's config file (default: .sanddune/scenarios.json)")
    .option(...SUITE_CWD_FLAG)
    .optionsGroup("Execution:")
    .option("--base-url <url>", "where the tested product is fetched from, instead of a local mirror")
    .option("--concurrency <n>", "scenarios to execute at a time (default: one for each core)", wholeNumber)
    .option("--repeat <n>", "execute each scenario n times, to measure how often it fails", wholeNumber)
    .option("--keep-tmp", "keep the project directories, and print their paths")
    .optionsGroup("Agent:")
    .addOption(
      choices("--agent <name>", "the agent of all scenarios (default: ide_platform of the page)", agentNames),
    )
    .option("--model <name>", "the model of every agent step")
    .option(
      "--agent-command <line>",
      "the program for --agent command; it reads the prompt from standard input",
    )
    .optionsGroup("Sandbox:")
    .addOption(
      choices("--sandbox <name>", "where scenarios are executed; none: on this machine", [
        ...sandboxNames,
        NO_SANDBOX,
      ]),
    );

export const addScenarioRunFlags = (command: Command): Command =>
  addGeneralFlags(addExecutionFlags(command))
    .optionsGroup("Records:")
    .option("--ci <url>", "the address of the CI run, for the records")
    .option(
      "--keep <n>",
      "keep only the newest n records of each scenario, and all of this suite run",
      wholeNumber,
    )
    .option("--report <file>", "write a report: .html, .xml (JUnit) or .md (repeatable)", collect)
    .option("--json", "print the results as one JSON object");
