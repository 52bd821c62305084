import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { SandboxMount } from "../../sandboxes/contract.ts";
import { type ConfigEntry, parseConfigList, renderConfig } from "../configFile.ts";
import { gitText } from "../git.ts";
import { sandboxConfig } from "./sandboxConfig.ts";

export interface SubmoduleSetup {
  /** The checkout that contains the submodules. */
  readonly checkout: { readonly path: string; readonly gitDirectory: string };
  readonly sandboxCheckoutPath: string;
  /** The sandbox's git directory on the host. */
  readonly hostGitDirectory: string;
  readonly sandboxGitDirectory: string;
}

/** The submodules' git directories, relative to `modules/`. Names can contain slashes and be nested. */
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

const readConfig = (path: string): Effect.Effect<ConfigEntry[], SandduneError> =>
  gitText(["config", "--file", path, "--list", "-z"], { cwd: "/" }).pipe(Effect.map(parseConfigList));

/** The path of a submodule in the checkout; `undefined` if it is not checked out. */
const placeInCheckout = (
  checkoutPath: string,
  moduleDirectory: string,
  config: readonly ConfigEntry[],
): string | undefined => {
  const worktree = config.find(([name]) => name === "core.worktree")?.[1];
  if (worktree === undefined) return undefined;
  const place = relative(checkoutPath, resolve(moduleDirectory, worktree));
  const directory = join(checkoutPath, place);
  // An agent may have replaced the directory by a link.
  const isThere =
    place !== "" &&
    !place.startsWith("..") &&
    lstatSync(join(directory, ".git"), { throwIfNoEntry: false })?.isFile() &&
    realpathSync(directory) === join(realpathSync(checkoutPath), place);
  return isThere ? place : undefined;
};

/**
 * Initialised submodules have their git directories in that of the checkout, and git fails in a checkout without them.
 * They are mounted read-only, each with a cleaned configuration. A submodule and its git directory refer to each other
 * by host paths, so these files are replaced too.
 */
export const submoduleMounts = Effect.fnUntraced(function* (
  setup: SubmoduleSetup,
): Effect.fn.Return<SandboxMount[], SandduneError> {
  const { checkout, sandboxCheckoutPath, hostGitDirectory, sandboxGitDirectory } = setup;
  const hostPath = join(checkout.gitDirectory, "modules");
  if (!existsSync(hostPath)) return [];
  const sandboxPath = `${sandboxGitDirectory}/modules`;
  mkdirSync(join(hostGitDirectory, "modules"), { recursive: true });
  /** Mounts a file of ours over one of git's. */
  const cover = (name: string, content: string, covered: string): SandboxMount => {
    const file = `${hostGitDirectory}-${name}`;
    writeFileSync(file, content);
    return { hostPath: file, sandboxPath: covered, readOnly: true };
  };
  const covers = yield* Effect.forEach(findGitDirectories(hostPath), (module, index) =>
    Effect.map(readConfig(join(hostPath, module, "config")), (config): SandboxMount[] => {
      const place = placeInCheckout(checkout.path, join(hostPath, module), config);
      const worktree: ConfigEntry[] =
        place === undefined ? [] : [["core.worktree", `${sandboxCheckoutPath}/${place}`]];
      const moduleInSandbox = `${sandboxPath}/${module}`;
      return [
        cover(
          `module-${index}`,
          renderConfig([...sandboxConfig(config), ...worktree]),
          `${moduleInSandbox}/config`,
        ),
        ...(place === undefined
          ? []
          : [
              cover(
                `pointer-${index}`,
                `gitdir: ${moduleInSandbox}\n`,
                `${sandboxCheckoutPath}/${place}/.git`,
              ),
            ]),
      ];
    }),
  );
  return [{ hostPath, sandboxPath, readOnly: true }, ...covers.flat()];
});
