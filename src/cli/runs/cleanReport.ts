import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { CleanOutcome } from "../../runs/clean/cleanUp.ts";

const TITLES: Record<CleanOutcome["outcome"], string> = {
  rescued: "Rescued:",
  removed: "Removed:",
  wouldBeRemoved: "Would be removed:",
  wouldBeRescued: "Would be rescued:",
  kept: "Kept:",
  failed: "Could not be removed:",
};

const describe = ({
  what,
  name,
  detail,
  runIds,
  keptBecause,
  goesIfNamed,
  loses,
  notes = [],
  problem,
}: CleanOutcome): string[] => {
  const subject = name.startsWith(what) ? name : `${what} ${name}`;
  const runId = runIds.at(-1);
  return [
    `  ${subject}${detail === "" ? "" : ` (${detail})`}`,
    ...notes.map((note) => `      ${note}`),
    keptBecause !== undefined && `      ${keptBecause}`,
    loses !== undefined && `      this work is lost with it: ${loses}`,
    problem !== undefined && `      ${problem}`,
    goesIfNamed &&
      runId !== undefined &&
      `      to remove it anyway: ${what === "branch" ? sandduneCommand("clean", "--branch", name) : sandduneCommand("clean", "--run", runId)}`,
  ].filter((line) => typeof line === "string");
};

/** The leftovers and what was done with them, as text. `removal` is the command that removes them. */
export const cleanLines = (outcomes: readonly CleanOutcome[], removal: string): string[] => {
  if (outcomes.length === 0) return ["There is nothing to clean up."];
  const parts = (Object.keys(TITLES) as CleanOutcome["outcome"][]).flatMap((outcome) => {
    const items = outcomes.filter((item) => item.outcome === outcome);
    return items.length === 0 ? [] : [[TITLES[outcome], ...items.flatMap(describe)]];
  });
  const isDry = outcomes.some(({ outcome }) => outcome.startsWith("wouldBe"));
  return [...parts.flat(), ...(isDry ? [`Nothing was removed. To remove: ${removal}`] : [])];
};
