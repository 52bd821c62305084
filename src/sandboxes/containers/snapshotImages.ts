import { SandboxError } from "../../errors.ts";
import { type ContainerEngine, callEngine, commandLineOf } from "./engine.ts";

const TIMEOUT_MS = 30_000;

/** Names the snapshot that an image is, and that containers were started from. */
export const SNAPSHOT_LABEL = "sanddune.snapshot";

export const snapshotTag = (name: string): string => `sanddune-snapshot:${name}`;

const imagesOf = async (
  engine: ContainerEngine,
  name: string,
  filters: readonly string[],
): Promise<readonly string[]> => {
  const { exitCode, stdout, stderr } = await callEngine(
    engine,
    [
      ...["image", "ls", "--all", "--quiet", "--no-trunc", "--filter", `label=${SNAPSHOT_LABEL}=${name}`],
      ...filters,
    ],
    { timeoutMs: TIMEOUT_MS },
  );
  if (exitCode !== 0)
    throw new SandboxError(engine.name, `the images of the snapshot ${name} could not be listed`, stderr);
  return [...new Set(stdout.split("\n").filter(Boolean))];
};

/** Whether there is an image of a snapshot. */
export const hasSnapshotImage = async (engine: ContainerEngine, name: string): Promise<boolean> =>
  (await imagesOf(engine, name, [])).length > 0;

/** Whether there are containers that were started from a snapshot: they have the labels of its image. */
export const isSnapshotUsed = async (engine: ContainerEngine, name: string): Promise<boolean> => {
  const { exitCode, stdout, stderr } = await callEngine(
    engine,
    ["ps", "--all", "--quiet", "--filter", `label=${SNAPSHOT_LABEL}=${name}`],
    { timeoutMs: TIMEOUT_MS },
  );
  if (exitCode === 0) return stdout.trim() !== "";
  throw new SandboxError(engine.name, `the containers of the snapshot ${name} could not be listed`, stderr);
};

/** Names the snapshot that a container was started from; `undefined` if it was started from an image of the user. */
export const snapshotOf = async (engine: ContainerEngine, container: string): Promise<string | undefined> => {
  const label = `{{index .Config.Labels "${SNAPSHOT_LABEL}"}}`;
  const { exitCode, stdout } = await callEngine(
    engine,
    ["container", "inspect", "--format", label, container],
    { timeoutMs: TIMEOUT_MS },
  );
  const name = stdout.trim();
  return exitCode === 0 && /^[\w.-]+$/.test(name) ? name : undefined;
};

/** The last container of an image may end between a refusal and the look at its containers. */
const ATTEMPTS = 5;

/**
 * Removes the images of a snapshot that have no tag any more, unless a container still uses them: the engine refuses that. Several
 * processes may do so at once. Rejects if an image is left that nothing uses.
 */
export const dropUntagged = async (engine: ContainerEngine, name: string): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    const ids = await imagesOf(engine, name, ["--filter", "dangling=true"]);
    if (ids.length === 0) return;
    const removal = await callEngine(engine, ["image", "rm", ...ids], { timeoutMs: TIMEOUT_MS });
    if (removal.exitCode === 0 || (await isSnapshotUsed(engine, name))) return;
    if (attempt < ATTEMPTS) continue;
    throw new SandboxError(
      engine.name,
      `the image of the snapshot ${name} could not be removed. Try: ${commandLineOf(engine)} image rm ${ids.join(" ")}`,
      removal.stderr,
    );
  }
};
