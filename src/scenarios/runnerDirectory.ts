import { appendFileSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRunId } from "../engine/runId.ts";
import { killMarked } from "../process/killMarked.ts";
import { isRunning, ownIdentity, type ProcessIdentity } from "../process/processIdentity.ts";
import { SANDBOX_VARIABLE } from "../process/processMarks.ts";
import { removeDirectory } from "../process/removeDirectory.ts";
import { sandboxLeftovers } from "../sandboxes/leftovers.ts";

const PREFIX = "sanddune-scenarios-";
const OWNER_FILE = "owner.json";
const SANDBOXES_FILE = "sandboxes.jsonl";
/** Stands for the name of a sandbox provider where there is no sandbox: all that can be left are processes. */
export const ON_HOST = "host";

/** A sandbox that a runner has made. */
interface NotedSandbox {
  readonly provider: string;
  readonly sandboxName: string;
  readonly runId: string;
}

/** The temporary directory of one runner, with everything that it needs while it runs. */
export interface RunnerDirectory {
  readonly path: string;
  readonly runId: string;
  /** Writes down that a sandbox is about to be made, so that the next runner finds it if this one dies. */
  noteSandbox(provider: string, sandboxName: string): void;
  /** Gives up the directory without removing it: somebody wants to look at it. */
  keep(): Promise<void>;
  remove(): Promise<void>;
}

const temporaryDirectory = (): Promise<string> => realpath(tmpdir());

/** The owner goes last: of a removal that does not come to its end, the next runner takes care. */
const removeAll = async (path: string): Promise<void> => {
  for (const name of await readdir(path)) {
    if (name !== OWNER_FILE) await removeDirectory(join(path, name));
  }
  await removeDirectory(path);
};

/** Makes the temporary directory of a runner. */
export const openRunnerDirectory = async (): Promise<RunnerDirectory> => {
  const runId = createRunId();
  const path = join(await temporaryDirectory(), `${PREFIX}${runId}`);
  await mkdir(path, { mode: 0o700 });
  await writeFile(join(path, OWNER_FILE), JSON.stringify(ownIdentity()));
  return {
    path,
    runId,
    noteSandbox: (provider, sandboxName) => {
      const note: NotedSandbox = { provider, sandboxName, runId };
      appendFileSync(join(path, SANDBOXES_FILE), `${JSON.stringify(note)}\n`);
    },
    keep: () => rm(join(path, OWNER_FILE), { force: true }),
    // What is left now has been told of, project by project; the next runner tries again.
    remove: () => removeAll(path).catch(() => {}),
  };
};

/** Names of sandboxes become parts of paths. */
const isPlainName = (name: unknown): name is string => typeof name === "string" && /^[\w.-]+$/.test(name);

const notedSandboxes = async (path: string): Promise<readonly NotedSandbox[]> => {
  const text = await readFile(join(path, SANDBOXES_FILE), "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    try {
      const note = JSON.parse(line) as NotedSandbox;
      return isPlainName(note.sandboxName) && isPlainName(note.runId) ? [note] : [];
    } catch {
      // The last line, of a runner that died while it wrote it.
      return [];
    }
  });
};

const removeSandbox = async ({ provider, ...sandbox }: NotedSandbox): Promise<void> => {
  if (provider === ON_HOST) return killMarked({ name: SANDBOX_VARIABLE, value: sandbox.sandboxName });
  const leftovers = sandboxLeftovers.get(provider);
  const left = { ...sandbox, temporaryDirectory: await temporaryDirectory() };
  if ((await leftovers?.find(left)) !== undefined) await leftovers?.remove(left);
};

/** Others can put things into the temporary directory as well: links to what is not ours, files that never end. */
const isDead = async (path: string): Promise<boolean> => {
  const [directory, file] = await Promise.all([lstat(path), lstat(join(path, OWNER_FILE))]);
  if (!directory.isDirectory() || !file.isFile()) return false;

  if (process.getuid !== undefined && directory.uid !== process.getuid()) return false;
  const owner = JSON.parse(await readFile(join(path, OWNER_FILE), "utf8")) as ProcessIdentity;
  return !isRunning(owner);
};

/**
 * Removes what runners that were killed have left behind: their sandboxes, then their directories. What cannot be
 * removed now stays for the next one; a directory without an owner is somebody's to look at.
 */
export const removeDeadRunners = async (): Promise<void> => {
  const directory = await temporaryDirectory();
  const names = (await readdir(directory)).filter((name) => name.startsWith(PREFIX));
  await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      try {
        if (!(await isDead(path))) return;
        for (const sandbox of await notedSandboxes(path)) await removeSandbox(sandbox);
        await removeAll(path);
      } catch {
        // Another runner may be removing it at this moment, or an engine may be down.
      }
    }),
  );
};
