import { withTrialDirectory } from "../git/overlay/trialDirectory.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import { messageOf } from "../tools/messageOf.ts";
import { type Finding, isForeseen, note, ok } from "./finding.ts";
import type { Situation } from "./situation.ts";

/** How runs in a provider's sandboxes check out a large repository. A note only: without overlays runs are slower, and otherwise the same. */
export const checkCheckouts = async (
  provider: SandboxProvider,
  { repository }: Pick<Situation, "repository">,
): Promise<readonly Finding[]> => {
  if (repository === undefined || provider.type !== "bind-mount") return [];
  const title = `large repositories in ${provider.name}`;
  const slower = (problem: string) => note(title, `each run writes all files: ${problem}`);
  if (provider.overlayProblem === undefined) return [slower("the provider does not support overlays")];
  try {
    const problem = await withTrialDirectory(repository, async (directory) =>
      provider.overlayProblem?.(directory),
    );
    return [problem === undefined ? ok(title, "runs share one checkout by overlays") : slower(problem)];
  } catch (error) {
    if (!isForeseen(error)) throw error;
    return [note(title, `whether runs share one checkout is unknown: ${messageOf(error)}`)];
  }
};
