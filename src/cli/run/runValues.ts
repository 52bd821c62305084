import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import type { RunOptions } from "../../options/runOptions.ts";
import type { MountOption } from "../../sandboxes/mounts/resolveMounts.ts";
import { parseRemoteHost } from "../../sandboxes/remote/remoteHost.ts";

/** The longest timer of Node.js. */
const MAX_SECONDS = 2_147_483;

export const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 1 or more.");
  return Number(text);
};

export const wholeNumberOrNone = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 0 or more.");
  return Number(text);
};

export const numberAboveZero = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0) || value === Number.POSITIVE_INFINITY) {
    throw new InvalidArgumentError("It must be a number above 0.");
  }
  return value;
};

export const seconds = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value <= MAX_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, above 0 and at most ${MAX_SECONDS}.`);
  }
  return value;
};

export const rateLimitAnswer = (text: string): RunOptions["onRateLimit"] =>
  text === "fail" ? text : { waitUpToMs: seconds(text) * 1000 };

export const collect = (item: string, items: readonly string[] = []): readonly string[] => [...items, item];

/** Names of runs and branches. They do not begin with `--`, so that is the next flag, and the value is missing. */
export const collectNames = (name: string, names: readonly string[] = []): readonly string[] => {
  if (!name.startsWith("--")) return [...names, name];
  throw new InvalidArgumentError("The value is missing: this looks like the next flag.");
};

export const collectHosts = (text: string, hosts: readonly string[] = []): readonly string[] => {
  if (parseRemoteHost(text) !== undefined) return [...hosts, text];
  throw new InvalidArgumentError("Write ssh://user@machine or tcp://machine:port, without a password.");
};

/** The shell expands a leading tilde, except after an equals sign. */
const hostPathOf = (path: string): string => (/^~(?=\/|$)/.test(path) ? path : resolve(path));

export const collectMounts = (text: string, mounts: readonly MountOption[] = []): readonly MountOption[] => {
  const [, hostPath, sandboxPath, access] = /^(.+?):(\/[^:]*)(?::(ro|rw))?$/s.exec(text) ?? [];
  if (hostPath === undefined || sandboxPath === undefined) {
    throw new InvalidArgumentError(
      "Write HOST:SANDBOX or HOST:SANDBOX:ro, where SANDBOX is an absolute path.",
    );
  }
  return [...mounts, { hostPath: hostPathOf(hostPath), sandboxPath, readOnly: access === "ro" }];
};
