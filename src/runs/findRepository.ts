import { resolve } from "node:path";
import { runAtBoundary } from "../boundary/boundary.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { checkConfigDirectory } from "../options/configDirectory.ts";
import { requireTrusted } from "./recover/requireTrusted.ts";

/** Opens the repository of a directory and checks its config directory. */
export const findRepository = async (given: string | undefined): Promise<Repository> => {
  const cwd = resolve(given ?? ".");
  requireTrusted(cwd);
  const repository = await runAtBoundary(openRepository(cwd));
  checkConfigDirectory(repository.configDirectory);
  return repository;
};
