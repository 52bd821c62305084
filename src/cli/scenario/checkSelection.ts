import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { RunnableFilter } from "../../scenarios/execution/executions.ts";
import type { LoadedScenarios } from "../../scenarios/pages/loadScenarios.ts";
import type { Scenario } from "../../scenarios/spec.ts";
import { UsageError } from "../shared/usageError.ts";
import type { ScenarioRunFlags } from "./runFlags.ts";

/** `4 for agent, 1 for manual`. */
const countKinds = (scenarios: readonly Scenario[]): string => {
  const kinds = scenarios.map(({ spec: { runnable } }) => runnable);
  return [...new Set(kinds)]
    .map((kind) => `${kinds.filter((each) => each === kind).length} for ${kind}`)
    .join(", ");
};

const nothingSelected = (
  { only, runnable: given }: ScenarioRunFlags,
  runnable: RunnableFilter,
  scenarios: readonly Scenario[],
): string => {
  if (scenarios.length === 0) {
    return `There are no scenarios. For a first one: ${sandduneCommand("scenario", "new", "my-scenario")}`;
  }
  const meant = only === undefined ? scenarios : scenarios.filter(({ id }) => only.includes(id));
  const subject = only === undefined ? "the suite has" : `--only ${only.join(",")} names`;
  const filter = given === undefined ? `${runnable} (the default)` : runnable;
  const all = sandduneCommand(
    "scenario",
    "run",
    "--runnable",
    "any",
    ...(only ? [`--only=${only.join(",")}`] : []),
  );
  return `No scenario is selected: --runnable is ${filter}, and ${subject} ${countKinds(meant)}. To execute them: ${all}`;
};

/** A name that selects nothing is a slip, and must not look like success. */
export const checkSelection = (
  flags: ScenarioRunFlags,
  runnable: RunnableFilter,
  { scenarios, ids, selected, problems }: LoadedScenarios & { readonly selected: readonly Scenario[] },
): void => {
  const missing = flags.only?.filter((id) => !ids.includes(id)) ?? [];
  if (missing.length > 0) {
    throw new UsageError(
      `--only: there is no scenario ${missing.join(", ")}. See: ${sandduneCommand("scenario", "list")}`,
    );
  }
  // A bad page may be the one that is meant.
  const isBadMeant = (flags.only ?? ids).some((id) => !scenarios.some((scenario) => scenario.id === id));
  if (selected.length > 0 || (problems.length > 0 && isBadMeant)) return;
  throw new UsageError(nothingSelected(flags, runnable, scenarios));
};
