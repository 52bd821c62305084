import { runAtBoundary } from "../boundary/boundary.ts";
import { resolveCommit } from "../git/refs.ts";
import { findRepository } from "./findRepository.ts";

/** The commit that a name stands for in the repository that a directory is in; `undefined` if it stands for none. */
export const findCommit = async (cwd: string, name: string): Promise<string | undefined> => {
  const { topLevel } = await findRepository(cwd);
  return runAtBoundary(resolveCommit(topLevel, name));
};
