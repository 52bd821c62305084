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

/** A server of somebody's own, which has said that it is well. */
export interface RunningServer {
  readonly url: string;
  readonly exited: Promise<unknown>;
  /** Says how it ended, if it has, with its last words. */
  failure(): EnvironmentStartError | undefined;
  end(): Promise<void>;
}

const GRACE_MS = 2000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;
/** For one answer: a server that has just begun to listen may take its time. */
const ANSWER_MS = 5000;
const PROGRESS_MS = 2000;

/** A port that is free: the one that is wanted, or any. Who answers there would not be the server that is to be started. */
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
      `the port ${wanted} of its server is taken: end what uses it, or leave "port" out of environment.json, so that a free one is chosen`,
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

/** Asks again and again whether the server is well. Rejects if it ends, or takes too long. */
const untilHealthy = async (
  { server, url, definition, onProgress, exitCode }: Starting,
  signal: AbortSignal,
): Promise<void> => {
  const { start, health, startTimeoutMs } = definition;
  const deadline = performance.now() + startTimeoutMs;
  let toldAt = performance.now();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const isWell = await isHealthy(url, health, signal);
    signal.throwIfAborted();
    const ended = exitCode();
    if (ended !== undefined)
      throw new EnvironmentStartError(
        `its server (${start}) ended with exit code ${ended}: it has to stay in the foreground`,
        server.output(),
      );
    if (isWell) return;
    if (performance.now() > deadline)
      throw new EnvironmentStartError(
        `its server (${start}) did not answer GET ${url}${health} with 200 within ${startTimeoutMs} ms. It has to listen on 127.0.0.1, at the port that PORT in its environment names`,
        server.output(),
      );
    if (performance.now() - toldAt > PROGRESS_MS) {
      toldAt = performance.now();
      onProgress(`Waiting for ${url}${health}`);
    }
    await Promise.race([delay(pause), server.exited]);
  }
};

export interface ServerPlace extends TestPlace {
  /** Whether nobody else has started it already: the other one may have the port that it is to have. */
  readonly isAlone: boolean;
}

/** Starts the server of an environment, and waits until it is well. Rejects with an `EnvironmentStartError`, or with `signal.reason`. */
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
