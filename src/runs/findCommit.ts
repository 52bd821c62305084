import { runAtBoundary } from "../boundary/boundary.ts";
import { resolveCommit } from "../git/refs.ts";
import { findRepository } from "./findRepository.ts";

/** Resolves a name to a commit in the repository of a directory; `undefined` if it names none. */
export const findCommit = async (cwd: string, name: string): Promise<string | undefined> => {
  const { topLevel } = await findRepository(cwd);
  return runAtBoundary(resolveCommit(topLevel, name));
};
