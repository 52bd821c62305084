import type { EnvVars } from "../options/envVars.ts";
import type { SandboxLeftovers } from "./leftovers.ts";
import { checkedDefinition } from "./providerDefinition.ts";

/** Standard input for a command in a sandbox. */
export type ExecInput = string | Uint8Array | AsyncIterable<Uint8Array>;

/** The options of `exec`. */
export interface ExecOptions {
  /** Absolute path in the sandbox; `worktreePath` when it is left out. */
  readonly cwd?: string;
  /** Added to the sandbox's environment. Values may hold anything but NUL, and must never appear on an argv. */
  readonly env?: Readonly<Record<string, string>>;
  /** Closed at once when it is left out. */
  readonly stdin?: ExecInput;
  /** Run as root in the sandbox. Providers that cannot reject with a `SandboxError`. */
  readonly sudo?: boolean;
  /** A command that takes longer is killed. No limit when it is left out. */
  readonly timeoutMs?: number;
  /** Aborts the call, which then rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** Each line of stdout, without its line end, as it arrives. */
  readonly onLine?: (line: string) => void;
  /** Each line of stderr, without its line end, as it arrives. */
  readonly onStderrLine?: (line: string) => void;
  /** Called whenever the command printed anything, even without a line end. */
  readonly onActivity?: () => void;
  /** How much of each stream's end the result keeps; 1 MiB when it is left out. */
  readonly captureBytes?: number;
}

/** The result of `exec`, for every exit code. */
export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** 128 + n when signal n ended the command. */
  readonly exitCode: number;
}

/** The options of `interactiveExec`. */
export type InteractiveExecOptions = Pick<ExecOptions, "cwd" | "env" | "signal">;

/** State that a provider has kept of a sandbox, for new sandboxes to start from. */
export interface SandboxSnapshot {
  /** Unique, and fit for the tag of an image. */
  readonly name: string;
  /** An absolute directory of the host, of this user alone. The provider may keep files in it. */
  readonly directory: string;
  /** What the provider needs to find the state again, for example the id of an image. Only the provider reads it. */
  readonly state: string;
}

/** The options of `snapshot`. */
export interface SnapshotOptions extends Pick<SandboxSnapshot, "name" | "directory"> {
  /** Aborts the call, which then rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/**
 * A live sandbox, made by a sandbox provider.
 *
 * - `exec` runs `command` with `sh`. It MUST resolve for every exit code, stream lines before the command ends, and
 *   on `signal` or `timeoutMs` kill the command with all its descendants before it rejects: with the identical
 *   `signal.reason`, or with a `ProcessTimeoutError`.
 * - When the sandbox itself is gone, operations MUST reject with a `SandboxLostError`, never resolve.
 * - `interactiveExec` runs `command` on a terminal in the sandbox, which is shown on this process's terminal: the command
 *   MUST NOT get access to the host's terminal, into which it could type. The promises of `exec` hold, and sizes are passed on.
 * - `snapshot` keeps what commands have changed in the sandbox itself: everything but its mounts. `directory` exists and is
 *   empty; no command of a caller runs meanwhile. It resolves with the `state` of the snapshot, and the sandbox MUST be as usable
 *   as before. If it rejects, nothing MUST be left of the snapshot.
 * - `leave` ends the handle of a lost sandbox that may still exist and hold the only copy of work: the sandbox stays until its
 *   lease is over. It resolves with `false` if there is no work to fetch; then `close` is called.
 * - `close` MUST be idempotent, also when called concurrently or after the sandbox died. It rejects only if something
 *   is left behind, with an error that says what, and how to remove it.
 */
export interface SandboxHandle {
  /** Names this sandbox in logs and errors, e.g. the container's name. */
  readonly name: string;
  /** Where the worktree is, in the sandbox. */
  readonly worktreePath: string;
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  /** Left out if the sandbox does not support a terminal: then `interactive()` refuses it. */
  interactiveExec?(command: string, options?: InteractiveExecOptions): Promise<{ readonly exitCode: number }>;
  /** Copies one regular file to the host. Refuses symbolic links, at either end. */
  copyFileOut(sandboxPath: string, hostPath: string): Promise<void>;
  /** Left out if the state of a sandbox cannot be kept. */
  snapshot?(options: SnapshotOptions): Promise<string>;
  /** Left out if a lost sandbox is gone for good. */
  leave?(): Promise<boolean>;
  close(): Promise<void>;
}

/** A sandbox that sees host directories. */
export interface BindMountSandboxHandle extends SandboxHandle {
  /** Copies one host file into the sandbox; missing directories are made. */
  copyFileIn(hostPath: string, sandboxPath: string): Promise<void>;
}

/** A sandbox with its own file system. */
export interface IsolatedSandboxHandle extends SandboxHandle {
  /**
   * Copies a host file or directory into the sandbox; missing directories are made. Permission bits are kept, links in a
   * directory stay links, and an existing directory keeps its other files.
   */
  copyIn(hostPath: string, sandboxPath: string): Promise<void>;
}

/** A host file or directory that appears at a path in the sandbox. */
export interface SandboxMount {
  readonly hostPath: string;
  readonly sandboxPath: string;
  readonly readOnly: boolean;
  /**
   * The sandbox sees `hostPath` with the changes of an overlay: nothing is written to `hostPath`, and everything to the upper
   * directory. Only providers with `overlayProblem` get such mounts.
   */
  readonly overlay?: {
    readonly upperPath: string;
    readonly workPath: string;
    /** Read-only directories between `hostPath` and the upper one, the topmost first. Only providers with `stacksLayers` get any. */
    readonly layerPaths?: readonly string[];
  };
}

/** The options of an isolated provider's `create`. */
export interface SandboxCreateOptions {
  /** Names the run session; providers label what they create with it. */
  readonly runId: string;
  /** Unique to this sandbox, derived from the run id, fit for a container name. */
  readonly sandboxName: string;
  /** The host repository's top-level directory. */
  readonly repositoryPath: string;
  /** The directory in it that the caller named, where relative paths of options start; `repositoryPath` when it is left out. */
  readonly cwd?: string;
  /** Commands with `sudo` will be run, e.g. to install packages. */
  readonly usesSudo?: boolean;
  /** Start from this state, which a sandbox of the same provider and the same settings had, instead of from the image. */
  readonly snapshot?: SandboxSnapshot;
  /**
   * Called before anything is created, by providers that make sandboxes in several places: with what `sanddune clean` needs to
   * find this one again, such as the address of a daemon. Never a secret.
   */
  readonly onPlaced?: (place: string) => void;
  /** Aborts the call, which then rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/**
 * How a provider can restrict the network of its sandboxes: not at all, as a whole, or to some domains.
 */
export type NetworkPolicy = "none" | "on-off" | "domains";

/** The capabilities of a provider's sandboxes. One that is left out is supported. */
export interface SandboxCapabilities {
  /** Commands can be run as root. */
  readonly sudo?: boolean;
  /** Terminals are supported, as `interactive()` needs one. */
  readonly terminal?: boolean;
  /** A running command can receive input. Otherwise all input has to exist before the command starts. */
  readonly liveInput?: boolean;
  /** The lifetime of a sandbox can be extended while it is in use. */
  readonly extension?: boolean;
  readonly networkPolicy?: NetworkPolicy;
}

/** The options of a bind-mount provider's `create`. */
export interface BindMountCreateOptions extends SandboxCreateOptions {
  /** Where the worktree appears in the sandbox. */
  readonly worktreePath: string;
  /** A directory in the sandbox that is writable by the sandbox's user, for when the image offers no usable HOME. */
  readonly homePath: string;
  /** In the order in which they are made: later mounts cover earlier ones. */
  readonly mounts: readonly SandboxMount[];
}

/** The facts about a sandbox before it is made. */
export interface PreflightOptions
  extends Pick<SandboxCreateOptions, "repositoryPath" | "cwd" | "usesSudo" | "signal"> {
  /** `interactiveExec` will be used. */
  readonly usesTerminal?: boolean;
}

interface SandboxProviderDefinition {
  /** Names the sandbox provider in logs and errors. */
  readonly name: string;
  /** Env vars for every command of a run. None of them may be declared by the agent provider too. */
  readonly env?: EnvVars;
  /** A run that needs a missing one is refused before anything is created. */
  readonly capabilities?: SandboxCapabilities;
  /** Checks, before anything is created, that a sandbox could be made: rejects with a `SandboxUnavailableError`. */
  preflight?(options: PreflightOptions): Promise<void>;
  /** Removes what a snapshot has outside of its directory. Idempotent. Sandboxes that were started from it remain usable. */
  removeSnapshot?(snapshot: SandboxSnapshot): Promise<void>;
  /**
   * Identifies what a new sandbox starts from, for example by the id of the image. A snapshot of a sandbox with another base is
   * out of date.
   */
  snapshotBase?(options: PreflightOptions): Promise<string>;
  /**
   * Names where its snapshots are made now, such as the address of an engine, if that depends on the environment of the process.
   * Never a secret. A snapshot is used and removed only where it was made.
   */
  snapshotPlace?(): Promise<string>;
  /** Lets `sanddune clean` and `sanddune rescue` find sandboxes whose process has died. */
  readonly leftovers?: SandboxLeftovers;
}

/** The definition that `createBindMountSandboxProvider()` takes. */
export interface BindMountSandboxProviderDefinition extends SandboxProviderDefinition {
  /**
   * Resolves with the reason why a sandbox cannot mount an overlay of directories beside this one, and with `undefined` if it can.
   * The directory is empty, and is removed afterwards. If the function is left out, no mount has an `overlay`.
   */
  overlayProblem?(directory: string): Promise<string | undefined>;
  /** An overlay of its sandboxes can have `layerPaths`. */
  readonly stacksLayers?: boolean;
  create(options: BindMountCreateOptions): Promise<BindMountSandboxHandle>;
}

/** The definition that `createIsolatedSandboxProvider()` takes. */
export interface IsolatedSandboxProviderDefinition extends SandboxProviderDefinition {
  create(options: SandboxCreateOptions): Promise<IsolatedSandboxHandle>;
}

/** A provider of sandboxes that see host directories. */
export interface BindMountSandboxProvider extends BindMountSandboxProviderDefinition {
  readonly type: "bind-mount";
}

/** A provider of sandboxes with their own file system. */
export interface IsolatedSandboxProvider extends IsolatedSandboxProviderDefinition {
  readonly type: "isolated";
}

/** A value of the option `sandbox` of `run()`. */
export type SandboxProvider = BindMountSandboxProvider | IsolatedSandboxProvider;

/** The options of the `create` of `noSandbox()`. */
export interface NoSandboxCreateOptions {
  /** The directory on the host that the agent works in. */
  readonly worktreePath: string;
  /** The part of the host's environment that the agent gets. */
  readonly environment: Readonly<Record<string, string>>;
}

/** No isolation: the agent works on the host, and its user watches. For interactive sessions only. */
export interface NoSandboxProvider {
  readonly type: "none";
  readonly name: string;
  readonly env?: EnvVars;
  create(options: NoSandboxCreateOptions): Promise<SandboxHandle>;
}

/** A value of the option `sandbox` of `interactive()`. */
export type InteractiveSandboxProvider = SandboxProvider | NoSandboxProvider;

/**
 * Makes a sandbox provider whose sandboxes see host directories. sanddune handles worktrees and commits; the provider makes the
 * requested mounts.
 *
 * @example
 * const inner = docker();
 * const audited = createBindMountSandboxProvider({
 *   name: "audited",
 *   create: async (options) => {
 *     console.error(`A sandbox for ${options.repositoryPath}`);
 *     return inner.create(options);
 *   },
 * });
 */
export const createBindMountSandboxProvider = (
  definition: BindMountSandboxProviderDefinition,
): BindMountSandboxProvider => checkedDefinition(definition, "bind-mount");

/**
 * Makes a sandbox provider whose sandboxes have their own file system. sanddune exports the repository and imports the commits;
 * the provider copies files.
 *
 * @example
 * const inner = vercel();
 * const audited = createIsolatedSandboxProvider({
 *   name: "audited",
 *   create: async (options) => {
 *     console.error(`A sandbox for ${options.repositoryPath}`);
 *     return inner.create(options);
 *   },
 * });
 */
export const createIsolatedSandboxProvider = (
  definition: IsolatedSandboxProviderDefinition,
): IsolatedSandboxProvider => checkedDefinition(definition, "isolated");
