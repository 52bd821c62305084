import { SandboxError, SandboxUnavailableError } from "../../errors.ts";
import { type ContainerEngine, callEngine, unavailability } from "../containers/engine.ts";

const ASK_TIMEOUT_MS = 10_000;

/** The state of an engine, for the choice of one. */
interface EngineState {
  readonly engine: ContainerEngine;
  /** The image's user; empty if it is root. */
  readonly imageUser: string;
  /** How many sandboxes of other processes run there. */
  readonly others: number;
}

/** How many sandboxes this process has or is making at an engine, by the engine's address. */
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
      `the engine at ${engine.connection?.host} did not answer about its images and containers`,
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

/** The engine that was chosen for a sandbox. */
export interface Placement extends EngineState {
  /** The sandbox is gone. */
  release(): void;
}

/**
 * Chooses the engine with the fewest sandboxes; the first of several. This process counts its own sandboxes from the moment that
 * each is placed, so that many at once are spread evenly before the engines list them.
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
