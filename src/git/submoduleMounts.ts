import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import type { SandboxMount } from "../sandboxes/contract.ts";
import { parseConfigList, renderConfig } from "./configFile.ts";
import { gitText } from "./git.ts";
import type { Repository } from "./repository.ts";
import { sandboxConfig } from "./sandboxConfig.ts";

/** The git directories of submodules, relative to `modules/`: their names can have slashes, and they can be nested. */
const findGitDirectories = (modules: string, place = ""): string[] => {
  const directory = join(modules, place);
  if (existsSync(join(directory, "HEAD")) && existsSync(join(directory, "config"))) {
    const nested = join(place, "modules");
    return [place, ...(existsSync(join(modules, nested)) ? findGitDirectories(modules, nested) : [])];
  }
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => findGitDirectories(modules, join(place, entry.name)));
};

/** A submodule's configuration without what names programs or holds credentials, but with what makes it work. */
const cleanedConfig = (configPath: string): Effect.Effect<string, SandduneError> =>
  gitText(["config", "--file", configPath, "--list", "-z"], { cwd: "/" }).pipe(
    Effect.map((output) => {
      const entries = parseConfigList(output);
      const worktree = entries.filter(([name]) => name === "core.worktree");
      return renderConfig([...sandboxConfig(entries), ...worktree]);
    }),
  );

/**
 * Initialised submodules keep their git directories in that of the repository, and git does not work in a checkout
 * without them. They are mounted read-only, each with a cleaned configuration.
 */
export const submoduleMounts = Effect.fnUntraced(function* (
  repository: Repository,
  hostGitDirectory: string,
  sandboxGitDirectory: string,
): Effect.fn.Return<SandboxMount[], SandduneError> {
  const hostPath = join(repository.commonDirectory, "modules");
  if (!existsSync(hostPath)) return [];
  const sandboxPath = `${sandboxGitDirectory}/modules`;
  mkdirSync(join(hostGitDirectory, "modules"), { recursive: true });
  const configs = yield* Effect.forEach(findGitDirectories(hostPath), (place, index) =>
    cleanedConfig(join(hostPath, place, "config")).pipe(
      Effect.map((config): SandboxMount => {
        const cleaned = `${hostGitDirectory}-module-${index}`;
        writeFileSync(cleaned, config);
        return { hostPath: cleaned, sandboxPath: `${sandboxPath}/${place}/config`, readOnly: true };
      }),
    ),
  );
  return [{ hostPath, sandboxPath, readOnly: true }, ...configs];
});
