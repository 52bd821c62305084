import { ProcessStartError, ProcessTimeoutError, SandboxUnavailableError } from "../../errors.ts";
import type { OverlayLayers } from "../../process/overlay/layers.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { type ProcessResult, type ProcessSpec, runProcess } from "../../process/runProcess.ts";
import { inTime, TimeLimitError } from "../../tools/wait/timeLimit.ts";
import type { SandboxMount } from "../contract.ts";
import { type ContainerUser, isBuiltHere } from "./arguments.ts";

/** How an engine's client reaches an engine on another machine. */
export interface EngineConnection {
  /** The engine's address, as its user wrote it. */
  readonly host: string;
  /** How a user calls the client for it. */
  readonly commandLine: string;
  /** The client's arguments before every subcommand, once the connection is open. */
  readonly clientArguments: readonly string[];
  /** The client's environment; that of this process when it is left out. */
  environment?(): Readonly<Record<string, string>>;
  /** Resolves when the connection is open. Rejects with a `SandboxUnavailableError`. */
  open(): Promise<void>;
  /** Keeps the connection open until the returned function is called. */
  hold(): () => void;
  /** Why the connection failed, if it is known. */
  complaints(): string;
}

/** The command line of an engine. */
export interface EngineClient {
  /** The sandbox provider's name and the client's program. */
  readonly name: "docker" | "podman";
  readonly installHint: string;
  readonly startHint: string;
  /** Left out for the engine of this machine. */
  readonly connection?: EngineConnection;
}

export const engineClients = {
  docker: {
    name: "docker",
    installHint:
      "Install Docker: sudo apt-get install docker.io (Debian, Ubuntu), sudo dnf install moby-engine (Fedora), brew install --cask docker (macOS)",
    startHint: "Start it: sudo systemctl start docker (Linux), open -a Docker (macOS)",
  },
  podman: {
    name: "podman",
    installHint:
      "Install Podman: sudo apt-get install podman (Debian, Ubuntu), sudo dnf install podman (Fedora), brew install podman (macOS)",
    startHint: "Start its machine: podman machine start",
  },
} as const satisfies Readonly<Record<string, EngineClient>>;

/** The differences between engines whose command line is Docker's. */
export interface ContainerEngine extends EngineClient {
  /** The user as whom commands make files that belong to the host's user. */
  hostUser(): Promise<ContainerUser>;
  /** Arguments that every `run` has. */
  readonly runArguments: readonly string[];
  /** The engine's default socket on its machine. */
  readonly usualSocketPath: string;
  /** The socket of the daemon that the client uses; `undefined` if there is none, or only the client knows. */
  localSocket(): string | undefined;
  /** The address of the engine that the client uses now. */
  address(): Promise<string>;
  /** The client's arguments for an engine at an address. */
  clientArguments(url: string): readonly string[];
  /** Whether bind mounts get an SELinux label when the user does not say. */
  defaultSelinuxLabel(): "z" | false;
  /** Its `--mount` sets SELinux labels. */
  readonly mountSetsLabels: boolean;
  /** The arguments that mount an overlay, which the engine removes with the container. */
  overlayArguments(mount: SandboxMount, layers: OverlayLayers): string[];
  /** Its overlays can have more than one directory below the upper one. */
  readonly stacksLayers: boolean;
  /** Why it cannot mount overlays that this process can; `undefined` if it can. */
  overlayProblem(): Promise<string | undefined>;
  readonly removeArguments: readonly string[];
  /** The arguments that make an image of a container. */
  readonly commitArguments: readonly string[];
  /** The arguments that take a tag from an image, also if containers use it. */
  untagArguments(tag: string): readonly string[];
}

/** `uid:gid` of the host's user. On systems without such numbers, the engine's file sharing ignores them. */
export const hostUserId = (): string => `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;

type CallOptions = Pick<ProcessSpec, "timeoutMs" | "env" | "onStart" | "onStdoutLine" | "onStderrLine"> & {
  readonly signal?: AbortSignal | undefined;
};

/** How a user calls the engine's client. */
export const commandLineOf = ({ name, connection }: EngineClient): string => connection?.commandLine ?? name;

/** The complete arguments of the engine's client. */
export const clientArguments = ({ connection }: EngineClient, args: readonly string[]): readonly string[] => [
  ...(connection?.clientArguments ?? []),
  ...args,
];

/** Opens the connection to an engine on another machine, within the limit of the call. */
const openInTime = async (
  name: string,
  { open, host, commandLine }: EngineConnection,
  options: Pick<CallOptions, "timeoutMs" | "signal">,
): Promise<void> => {
  try {
    await inTime(open, options);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    throw new SandboxUnavailableError(
      name,
      `there was no connection to ${host} within ${options.timeoutMs} ms`,
      `Check with: ${commandLine} info`,
    );
  }
};

/** Runs the engine's client. Rejects with a `SandboxUnavailableError` if it cannot be started, or does not finish. */
export const callEngine = async (
  engine: EngineClient,
  args: readonly string[],
  { signal, ...options }: CallOptions,
): Promise<ProcessResult> => {
  const { timeoutMs } = options;
  if (engine.connection !== undefined)
    await openInTime(engine.name, engine.connection, { timeoutMs, signal });
  return runProcess({
    program: engine.name,
    args: clientArguments(engine, args),
    ...(engine.connection?.environment && { env: engine.connection.environment() }),
    ...options,
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (error instanceof ProcessStartError) {
      throw new SandboxUnavailableError(
        engine.name,
        `the program ${engine.name} could not be started (${error.errorCode})`,
        engine.installHint,
      );
    }
    if (error instanceof ProcessTimeoutError) {
      throw new SandboxUnavailableError(
        engine.name,
        `${commandLineOf(engine)} ${args[0]} did not finish within ${error.timeoutMs} ms`,
        `Check with: ${commandLineOf(engine)} info`,
      );
    }
    throw error;
  });
};

export const IMAGE_IS_MISSING = /no such image|image not known|unable to find image/i;
const DOES_NOT_ANSWER =
  /cannot connect|failed to connect|unable to connect|connection (refused|reset)|error during connect|is the docker daemon running|dial (tcp|unix)|i\/o timeout|: EOF|broken pipe|no such host/i;

const remoteUnavailability = (
  { name }: EngineClient,
  { host, commandLine, complaints }: EngineConnection,
  image: string,
  stderr: string,
): SandboxUnavailableError | undefined => {
  if (IMAGE_IS_MISSING.test(stderr)) {
    return new SandboxUnavailableError(
      name,
      `there is no image ${image} at ${host}`,
      `Copy it there: ${name} save ${image} | ${commandLine} load – or build it there: ${commandLine} build --tag ${image} .sanddune`,
    );
  }
  if (!DOES_NOT_ANSWER.test(stderr)) return undefined;
  const said = (complaints() || stderr.trim()).split("\n").at(-1);
  return new SandboxUnavailableError(
    name,
    `the ${name} engine at ${host} does not answer (${said})`,
    `Check with: ${commandLine} info`,
  );
};

/** Reads the client's error, if it is about the engine or the image and not about one container. */
export const unavailability = (
  engine: EngineClient,
  image: string,
  stderr: string,
): SandboxUnavailableError | undefined => {
  if (engine.connection !== undefined) return remoteUnavailability(engine, engine.connection, image, stderr);
  if (/permission denied.*(socket|daemon|connect)/i.test(stderr)) {
    return new SandboxUnavailableError(
      engine.name,
      `this user may not use the ${engine.name} daemon`,
      `Add the user to the ${engine.name} group and log in again: sudo usermod -aG ${engine.name} "$USER"`,
    );
  }
  if (/cannot connect|failed to connect|connection refused|is the docker daemon running/i.test(stderr)) {
    return new SandboxUnavailableError(
      engine.name,
      `the ${engine.name} daemon does not answer`,
      `${engine.startHint}. Then check with: ${engine.name} info`,
    );
  }
  if (IMAGE_IS_MISSING.test(stderr)) {
    const pulling = isBuiltHere(image) ? "" : ` – or get it: ${engine.name} pull ${image}`;
    return new SandboxUnavailableError(
      engine.name,
      `there is no image ${image}`,
      `Build it: ${sandduneCommand(engine.name, "build-image", "--image-name", image)}${pulling}`,
    );
  }
  return undefined;
};
