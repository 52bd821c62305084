import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ProcessStartError } from "../../errors.ts";
import { hostSystem } from "../host/system.ts";
import { runProcess } from "../runProcess.ts";
import { areMountable } from "./layers.ts";
import { openOverlayMount } from "./overlayMount.ts";

/** By the number of the file system: trials under way, and those that succeeded. */
const trials = new Map<number, Promise<string | undefined>>();

const mountIn = async (trial: string): Promise<string | undefined> => {
  const at = (name: string) => join(trial, name);
  for (const name of ["lower", "upper", "work", "merged"]) mkdirSync(at(name));
  const layers = { lowerPath: at("lower"), upperPath: at("upper"), workPath: at("work") };
  try {
    const mount = await openOverlayMount(layers, at("merged"), { isWritable: true });
    try {
      const [program = "", ...args] = mount.inside(["touch", at("merged/file")]);
      const { stderr } = await runProcess({ program, args, cwd: "/", timeoutMs: 10_000 });
      return existsSync(at("upper/file")) ? undefined : stderr.trim() || "commands do not see it";
    } finally {
      await mount.close();
    }
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error;
    const { program, errorCode } = error;
    return errorCode === "ENOENT" ? `there is no program ${program}` : errorCode;
  }
};

/** Mounts an overlay of empty directories: whether that works depends on kernel, file system and rights. */
const tryToMount = async (directory: string): Promise<string | undefined> => {
  const trial = mkdtempSync(join(directory, ".overlay-"));
  try {
    return await mountIn(trial);
  } finally {
    rmSync(trial, { recursive: true, force: true });
  }
};

/** A failure may have a passing reason, such as too many processes: the next caller tries again. */
const begin = (fileSystem: number, directory: string): Promise<string | undefined> => {
  const trial = tryToMount(directory);
  const forget = () => {
    if (trials.get(fileSystem) === trial) trials.delete(fileSystem);
  };
  trials.set(fileSystem, trial);
  trial.then((problem) => problem === undefined || forget(), forget);
  return trial;
};

/**
 * Why this process cannot mount an overlay of directories beside this one; `undefined` if it can. Tried in it, until it has worked once on
 * the file system. No other process may clean it up meanwhile.
 */
export const overlayProblem = async (directory: string): Promise<string | undefined> => {
  if (hostSystem().name !== "linux") return "overlays need Linux";
  const place = dirname(directory);
  if (!areMountable(place)) return `a mount cannot name a path in ${place}, because of the characters in it`;
  const { dev } = statSync(directory);
  const other = trials.get(dev);
  const hasWorked = other !== undefined && (await other.catch(() => "it failed")) === undefined;
  return hasWorked ? undefined : begin(dev, directory);
};
