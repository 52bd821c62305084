import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { EnvironmentStartError } from "../../../errors.ts";
import { type Dependent, startDependent } from "../../../process/dependent.ts";
import { withTimeLimit } from "../../../tools/wait/timeLimit.ts";
import { askServer } from "../../client/askServer.ts";
import type { ServerDefinition } from "../../folder/environmentJson.ts";
import type { TestPlace } from "../../worker/messages.ts";
import { environmentOf } from "../envVars.ts";

/** The environment's own server, which is healthy. */
export interface RunningServer {
  readonly url: string;
  readonly exited: Promise<unknown>;
  /** How it ended, with the end of its output; `undefined` while it runs. */
  failure(): EnvironmentStartError | undefined;
  end(): Promise<void>;
}

const GRACE_MS = 2000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;
/** For one answer: a server that has just started may be slow. */
const ANSWER_MS = 5000;
const PROGRESS_MS = 2000;

/** A free port: the requested one, or any. On a port in use, another server would answer. */
const freePort = async (wanted: number | undefined, isAlone: boolean): Promise<number> => {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once("error", reject).listen(wanted ?? 0, "127.0.0.1", resolve);
    });
    return (probe.address() as AddressInfo).port;
  } catch (cause) {
    if (!isAlone && wanted !== undefined) return freePort(undefined, isAlone);
    throw new EnvironmentStartError(
      `the port ${wanted} of its server is in use: end the program that uses it, or remove "port" from environment.json to use a free one`,
      "",
      { cause },
    );
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
};

const isHealthy = (url: string, path: string, signal: AbortSignal): Promise<boolean> =>
  withTimeLimit(ANSWER_MS, signal, (given) =>
    askServer({ url }, { method: "GET", path, signal: given }),
  ).then(
    ({ status }) => status === 200,
    () => false,
  );

interface Starting {
  readonly server: Dependent;
  readonly url: string;
  readonly definition: ServerDefinition;
  readonly onProgress: (sentence: string) => void;
  readonly exitCode: () => number | undefined;
}

/** Polls the server until it is healthy. Rejects if it ends, or takes too long. */
const untilHealthy = async (
  { server, url, definition, onProgress, exitCode }: Starting,
  signal: AbortSignal,
): Promise<void> => {
  const { start, health, startTimeoutMs } = definition;
  const deadline = performance.now() + startTimeoutMs;
  let reportedAt = performance.now();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const isUp = await isHealthy(url, health, signal);
    signal.throwIfAborted();
    const ended = exitCode();
    if (ended !== undefined)
      throw new EnvironmentStartError(
        `its server (${start}) ended with exit code ${ended}: it must stay in the foreground`,
        server.output(),
      );
    if (isUp) return;
    if (performance.now() > deadline)
      throw new EnvironmentStartError(
        `its server (${start}) did not answer GET ${url}${health} with 200 within ${startTimeoutMs} ms. It must listen on 127.0.0.1, at the port that the env var PORT names`,
        server.output(),
      );
    if (performance.now() - reportedAt > PROGRESS_MS) {
      reportedAt = performance.now();
      onProgress(`Waiting for ${url}${health}`);
    }
    await Promise.race([delay(pause), server.exited]);
  }
};

export interface ServerPlace extends TestPlace {
  /** Whether this is the only instance. Another one may use the configured port: then any free port will do. */
  readonly isAlone: boolean;
}

/** Starts the server of an environment, and waits until it is healthy. Rejects with an `EnvironmentStartError`, or with `signal.reason`. */
export const startServerCommand = async (
  definition: ServerDefinition,
  place: ServerPlace,
  onProgress: (sentence: string) => void,
  signal: AbortSignal,
): Promise<RunningServer> => {
  const port = await freePort(definition.port, place.isAlone);
  const url = `http://127.0.0.1:${port}`;
  onProgress(`Starting ${definition.start}`);
  const server = startDependent({
    program: "sh",
    args: ["-c", definition.start],
    cwd: place.directory,
    env: { ...environmentOf(place), PORT: String(port) },
    graceMs: GRACE_MS,
  });
  let exitCode: number | undefined;
  const exited = server.exited.then((code) => {
    exitCode = code;
  });
  try {
    await untilHealthy({ server, url, definition, onProgress, exitCode: () => exitCode }, signal);
  } catch (reason) {
    await server.end();
    throw reason;
  }
  return {
    ...{ url, exited },
    failure: () =>
      exitCode === undefined
        ? undefined
        : new EnvironmentStartError(`its server ended with exit code ${exitCode}`, server.output()),
    end: () => server.end(),
  };
};
