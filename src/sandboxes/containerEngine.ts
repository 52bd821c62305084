import { ProcessStartError, ProcessTimeoutError, SandboxUnavailableError } from "../errors.ts";
import { type ProcessResult, type ProcessSpec, runProcess } from "../process/runProcess.ts";
import type { ContainerUser } from "./containerArguments.ts";

/** The command line of an engine. */
export interface EngineClient {
  /** The sandbox provider's name and the client's program. */
  readonly name: "docker" | "podman";
  readonly installHint: string;
  readonly startHint: string;
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

/** What differs between the engines whose command line is Docker's. */
export interface ContainerEngine extends EngineClient {
  /** Whom commands have to run as, for their files to belong to the host's user. */
  hostUser(): Promise<ContainerUser>;
  /** Whether bind mounts get an SELinux label when the user does not say. */
  defaultSelinuxLabel(): "z" | false;
  readonly removeArguments: readonly string[];
}

/** `uid:gid` of the host's user. Where there are no such numbers, the engine's file sharing does not heed them. */
export const hostUserId = (): string => `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;

type CallOptions = Pick<ProcessSpec, "timeoutMs" | "env" | "onStart" | "onStdoutLine" | "onStderrLine"> & {
  readonly signal?: AbortSignal | undefined;
};

/** Runs the engine's client. Where that cannot be started, or does not come back, there is no sandbox to be had. */
export const callEngine = (
  engine: EngineClient,
  args: readonly string[],
  { signal, ...options }: CallOptions,
): Promise<ProcessResult> =>
  runProcess({
    program: engine.name,
    args,
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
        `${engine.name} ${args[0]} did not come back within ${error.timeoutMs} ms`,
        `Check with: ${engine.name} info`,
      );
    }
    throw error;
  });

/** What the client's complaint means when it is about the engine or the image, not about one container. */
export const unavailability = (
  engine: EngineClient,
  image: string,
  stderr: string,
): SandboxUnavailableError | undefined => {
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
  if (/no such image|image not known|unable to find image/i.test(stderr)) {
    return new SandboxUnavailableError(
      engine.name,
      `there is no image ${image}`,
      `Build it: sanddune ${engine.name} build-image --image-name ${image} – or get it: ${engine.name} pull ${image}`,
    );
  }
  return undefined;
};
