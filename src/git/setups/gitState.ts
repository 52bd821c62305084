import { lstatSync, readdirSync } from "node:fs";
import { withOpenDirectory } from "../../process/openDirectory.ts";

/**
 * The sandbox's index may change: what matters of it is compared with the commit. sanddune's own commands in the sandbox leave
 * word in files that mean nothing to git.
 */
const MAY_CHANGE = /^(index|sanddune-ready-\d+)$/;

/** What the kernel says of each file in a directory that a sandbox can write to, or of the ones at some paths. A process cannot forge the time of the last change. */
export const directoryState = (
  root: string,
  except: RegExp | undefined,
  paths?: readonly string[],
): ReadonlyMap<string, string> => {
  const state = new Map<string, string>();
  const visit = (steps: readonly string[], names?: readonly string[]): void => {
    const directories = withOpenDirectory(Buffer.from(root).toString("latin1"), steps, (directory) =>
      (names ?? readdirSync(directory.path, "latin1")).filter((name) => {
        const path = [...steps, name].join("/");
        if (except?.test(path)) return false;
        const stats = lstatSync(directory.entry(name), { bigint: true, throwIfNoEntry: false });
        if (stats === undefined) return false;
        // A directory's own time changes when git makes a temporary file in it.
        state.set(
          path,
          stats.isDirectory() ? "directory" : [stats.ino, stats.size, stats.mode, stats.ctimeNs].join(" "),
        );
        return stats.isDirectory();
      }),
    );
    for (const name of directories) visit([...steps, name]);
  };
  if (paths === undefined) visit([]);
  for (const path of paths ?? []) {
    const parts = path.split("/");
    visit(parts.slice(0, -1), parts.slice(-1));
  }
  return state;
};

/** The state of a sandbox's git directory: configuration, hooks, refs and objects. */
export const gitState = (gitDirectory: string): ReadonlyMap<string, string> =>
  directoryState(gitDirectory, MAY_CHANGE);

/** The first path that is new, changed or gone. */
export const firstChange = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string | undefined =>
  [...after].find(([path, state]) => before.get(path) !== state)?.[0] ??
  [...before.keys()].find((path) => !after.has(path));
