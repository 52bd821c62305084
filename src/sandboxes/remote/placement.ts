import { SandboxError, SandboxUnavailableError } from "../../errors.ts";
import { type ContainerEngine, callEngine, unavailability } from "../containers/engine.ts";

const ASK_TIMEOUT_MS = 10_000;

/** What an engine says about itself when a sandbox is to be placed. */
interface EngineState {
  readonly engine: ContainerEngine;
  /** The image's user; empty if it is root. */
  readonly imageUser: string;
  /** How many sandboxes of other processes run there. */
  readonly others: number;
}

/** How many sandboxes of this process are there or on their way there, by the engine's address. */
const ownCounts = new Map<string, number>();

const addressOf = ({ name, connection }: ContainerEngine): string => `${name} ${connection?.host}`;
const ownCountOf = (engine: ContainerEngine): number => ownCounts.get(addressOf(engine)) ?? 0;

/** Rejects with a `SandboxUnavailableError`, and with a `SandboxError`. */
const ask = async (
  engine: ContainerEngine,
  args: readonly string[],
  { image, signal }: { readonly image: string; readonly signal: AbortSignal | undefined },
): Promise<string> => {
  const answer = await callEngine(engine, args, { timeoutMs: ASK_TIMEOUT_MS, signal });
  if (answer.exitCode === 0) return answer.stdout.trim();
  throw (
    unavailability(engine, image, answer.stderr) ??
    new SandboxError(
      engine.name,
      `the engine at ${engine.connection?.host} did not say what it has`,
      answer.stderr,
    )
  );
};

export interface PlacementRequest {
  readonly image: string;
  /** Names this process in the labels of its containers. */
  readonly owner: string;
  readonly signal: AbortSignal | undefined;
}

/** Docker lists labels as `name=value,…`, Podman as `map[name:value …]`. */
const isOwn = (labels: string, owner: string): boolean =>
  labels
    .split(/[\s,[\]]+/)
    .some((label) => label === `sanddune.owner=${owner}` || label === `sanddune.owner:${owner}`);

const stateOf = async (engine: ContainerEngine, request: PlacementRequest): Promise<EngineState> => {
  const [imageUser, containers] = await Promise.all([
    ask(engine, ["image", "inspect", "--format", "{{.Config.User}}", request.image], request),
    ask(engine, ["ps", "--filter", "label=sanddune.run", "--format", "{{.ID}} {{.Labels}}"], request),
  ]);
  const others = containers
    .split("\n")
    .filter((line) => /^[0-9a-f]{12}/.test(line) && !isOwn(line, request.owner)).length;
  return { engine, imageUser, others };
};

/** One problem is the error itself; several become one. */
const noneUsable = (name: string, errors: readonly unknown[]): unknown => {
  const [first, ...more] = errors;
  if (more.length === 0) return first;
  const problems = errors.map((error) =>
    error instanceof SandboxUnavailableError ? error.problem : (error as Error).message,
  );
  const hints = errors.flatMap((error) => (error instanceof SandboxUnavailableError ? [error.hint] : []));
  return new SandboxUnavailableError(
    name,
    `none of its engines can be used: ${problems.join("; ")}`,
    hints.join("\n"),
  );
};

/** Asks all engines at once. Those that do not answer, or have no such image, are left out, unless all of them are. */
export const usableEngines = async (
  engines: readonly ContainerEngine[],
  request: PlacementRequest,
): Promise<readonly [EngineState, ...EngineState[]]> => {
  const answers = await Promise.allSettled(engines.map((engine) => stateOf(engine, request)));
  request.signal?.throwIfAborted();
  const [first, ...others] = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? [answer.value] : [],
  );
  if (first !== undefined) return [first, ...others];
  throw noneUsable(
    engines[0]?.name ?? "",
    answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : [])),
  );
};

/** Where a sandbox goes. */
export interface Placement extends EngineState {
  /** The sandbox is gone. */
  release(): void;
}

/**
 * Chooses the engine that has the fewest sandboxes; of those with as many, the first. This process's own are counted by
 * itself, from the moment that each is placed: many at once spread evenly, although no engine knows of them yet.
 */
export const placeSandbox = async (
  engines: readonly ContainerEngine[],
  request: PlacementRequest,
): Promise<Placement> => {
  const usable = await usableEngines(engines, request);
  const loadOf = ({ engine, others }: EngineState) => others + ownCountOf(engine);
  const chosen = usable.reduce((best, each) => (loadOf(each) < loadOf(best) ? each : best));
  const { engine } = chosen;
  const letGo = engine.connection?.hold();
  const count = (change: number) => ownCounts.set(addressOf(engine), ownCountOf(engine) + change);
  count(1);
  let isPlaced = true;
  const release = () => {
    if (!isPlaced) return;
    isPlaced = false;
    count(-1);
    letGo?.();
  };
  return { ...chosen, release };
};
