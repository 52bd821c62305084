import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { preflight } from "../sandboxes/handle/preflight.ts";
import { sandboxRegistry } from "../sandboxes/registry.ts";
import { attempt, type Finding, ok } from "./finding.ts";
import type { Situation } from "./situation.ts";

/** The sandboxes that are made on other machines. They are looked at if one of them was chosen. */
export const sandboxesElsewhere: readonly string[] = Object.entries(sandboxRegistry)
  .filter(([, { trial }]) => trial !== undefined)
  .map(([name]) => name);

/** Looks whether a sandbox could be made, and makes none: that may cost something. */
export const examineElsewhere = (
  name: string,
  { imageName, repository, cwd }: Situation,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> => {
  const entry = sandboxRegistry[name];
  return attempt(
    name,
    `Try it by hand: ${entry?.trial} – then again: ${sandduneCommand("doctor")}`,
    async () => {
      const provider = await entry?.create?.({ imageName }, { network: false });
      const repositoryPath = repository?.topLevel ?? cwd;
      if (provider !== undefined) await preflight(provider, { repositoryPath, ...(signal && { signal }) });
      return [ok(name, "can be reached; its image and its agents were not looked at")];
    },
  );
};
