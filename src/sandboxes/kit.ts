/**
 * `@missingstudio/sanddune/sandboxes/kit`: the parts of sanddune's sandbox providers, for your own provider. You define how an
 * argv is run in your sandbox; the kit makes a handle that keeps all promises of the contract.
 */
import {
  type Checks,
  callback,
  countOrNone,
  flag,
  members,
  milliseconds,
  nested,
  text,
} from "../options/checks/checks.ts";
import type { BindMountSandboxHandle, IsolatedSandboxHandle } from "./contract.ts";
import type { CommandSandboxDescription } from "./exec/commandSandbox.ts";
import * as handles from "./exec/commandSandbox.ts";
import type { Heartbeat } from "./exec/heartbeat.ts";
import * as kills from "./exec/killInSandbox.ts";
import type { SandboxAccess } from "./exec/sandboxAccess.ts";

export { shellQuote } from "../tools/shellQuote.ts";
export type { CommandSandboxDescription } from "./exec/commandSandbox.ts";
export type { Heartbeat } from "./exec/heartbeat.ts";
export { askLaunch, type LaunchStreams } from "./exec/runLaunch.ts";
export type {
  Diagnosis,
  HostProcess,
  Launch,
  LaunchOptions,
  LibraryCall,
  SandboxAccess,
} from "./exec/sandboxAccess.ts";

const HEARTBEAT: Checks<Heartbeat> = {
  everyMs: milliseconds,
  misses: countOrNone,
  timeoutMs: milliseconds,
  beat: callback,
};

const DESCRIPTION: Checks<CommandSandboxDescription> = {
  provider: text,
  name: text,
  worktreePath: text,
  fallbackHome: text,
  temporaryPath: text,
  isHost: flag,
  isRemote: flag,
  hasTerminal: flag,
  heartbeat: nested("heartbeat", HEARTBEAT, ["everyMs", "misses", "beat"]),
  requireTerminal: callback,
  launch: callback,
  kill: callback,
  closingKills: flag,
  killAtExit: callback,
  diagnose: callback,
  explainKill: callback,
  snapshot: callback,
  leave: callback,
  close: callback,
};
const REQUIRED = [
  ...["provider", "name", "worktreePath", "fallbackHome"],
  ...["launch", "kill", "diagnose", "close"],
];

/** The description itself, not a copy: its functions may use `this`. */
const checked = (description: CommandSandboxDescription): CommandSandboxDescription => {
  members("options", description, DESCRIPTION, REQUIRED);
  return description;
};

/**
 * Makes the handle of a bind-mount sandbox. Commands run under a wrapper that marks them with an exec id and prints an exit
 * marker: without that, an exit code is not believed.
 *
 * @example
 * const launch = (argv: readonly string[]) => ({ program: "chroot", args: ["/srv/mine", ...argv] });
 * const handle = commandSandbox({
 *   provider: "mine",
 *   name: "mine-1",
 *   worktreePath: "/repo",
 *   fallbackHome: "/home",
 *   launch,
 *   kill: killInSandbox(launch, { ownsProcessNamespace: false }),
 *   diagnose: async () => ({ problem: "it does not answer", details: "" }),
 *   close: async () => {},
 * });
 */
export const commandSandbox = (description: CommandSandboxDescription): BindMountSandboxHandle =>
  handles.commandSandbox(checked(description));

/**
 * Makes the handle of an isolated sandbox. Directories are copied in as one archive, so the sandbox needs `tar`.
 */
export const isolatedCommandSandbox = (description: CommandSandboxDescription): IsolatedSandboxHandle =>
  handles.isolatedCommandSandbox(checked(description));

/**
 * Kills a command with all its descendants where closing the connection does not: by another command, which looks for the
 * exec id in the environment of every process. With `ownsProcessNamespace`, processes that have cleared their environment
 * are killed as well: only for sandboxes in which every process belongs to a command.
 *
 * @example
 * const launch = (argv: readonly string[]) => ({ program: "ssh", args: ["machine", ...argv.map(shellQuote)] });
 * const kill = killInSandbox(launch, { ownsProcessNamespace: false });
 */
export const killInSandbox = (
  launch: SandboxAccess["launch"],
  options: { readonly ownsProcessNamespace: boolean },
): SandboxAccess["kill"] => {
  members("options", options, { ownsProcessNamespace: flag }, ["ownsProcessNamespace"]);
  return kills.killInSandbox(launch, options);
};
