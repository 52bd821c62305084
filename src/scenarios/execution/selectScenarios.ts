import { InvalidOptionsError, NoScenarioSelectedError } from "../../errors.ts";
import { didYouMean } from "../../options/checks/checks.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { RunnableFilter, ScenarioRunOptions } from "../contract.ts";
import type { LoadedScenarios } from "../pages/loadScenarios.ts";
import type { Scenario } from "../spec.ts";

type Selection = Pick<ScenarioRunOptions, "only" | "runnable">;

const DEFAULT_FILTER: RunnableFilter = "cli";

/** The kind of a scenario does not matter if its id is given. */
export const filterOf = ({ only, runnable }: Selection): RunnableFilter =>
  runnable ?? (only === undefined ? DEFAULT_FILTER : "any");

const matches = ({ spec: { runnable } }: Scenario, filter: RunnableFilter): boolean =>
  filter === "any" || runnable === filter || (runnable === "both" && filter !== "both");

/** `4 for agent, 1 for manual`. */
const countKinds = (scenarios: readonly Scenario[]): string => {
  const kinds = scenarios.map(({ spec: { runnable } }) => runnable);
  return [...new Set(kinds)]
    .map((kind) => `${kinds.filter((each) => each === kind).length} for ${kind}`)
    .join(", ");
};

const nothingSelected = (selection: Selection, scenarios: readonly Scenario[]): NoScenarioSelectedError => {
  if (scenarios.length === 0) {
    return new NoScenarioSelectedError(
      "There are no scenarios",
      `For a first one: ${sandduneCommand("scenario", "new", "my-scenario")}`,
    );
  }
  const { only, runnable } = selection;
  const named = only === undefined ? scenarios : scenarios.filter(({ id }) => only.includes(id));
  const subject = only === undefined ? "the suite has" : `\`only\` ${only.join(",")} names`;
  const filter = runnable ?? `${filterOf(selection)} (the default)`;
  const ids = only === undefined ? [] : [`--only=${only.join(",")}`];
  return new NoScenarioSelectedError(
    `No scenario is selected: \`runnable\` is ${filter}, and ${subject} ${countKinds(named)}`,
    `To execute them: ${sandduneCommand("scenario", "run", "--runnable", "any", ...ids)}`,
  );
};

/** The scenarios to execute. An id that does not exist, or an empty selection, must not look like success. */
export const selectScenarios = (
  selection: Selection,
  { scenarios, ids, problems }: LoadedScenarios,
): readonly Scenario[] => {
  const { only } = selection;
  const missing = only?.filter((id) => !ids.includes(id)) ?? [];
  if (missing.length > 0) {
    throw new InvalidOptionsError(
      "only",
      `there is no scenario ${missing.join(", ")}.${didYouMean(missing[0], ids)} See: ${sandduneCommand("scenario", "list")}`,
      ids,
    );
  }
  const filter = filterOf(selection);
  const selected = scenarios.filter(
    (scenario) => matches(scenario, filter) && (only === undefined || only.includes(scenario.id)),
  );
  // If a selected page has a mistake, that problem explains more.
  const isBadSelected = (only ?? ids).some((id) => !scenarios.some((scenario) => scenario.id === id));
  if (selected.length > 0 || (problems.length > 0 && isBadSelected)) return selected;
  throw nothingSelected(selection, scenarios);
};
