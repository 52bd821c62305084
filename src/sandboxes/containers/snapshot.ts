import { SandboxError } from "../../errors.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { parseJson } from "../../tools/json/parseJson.ts";
import { isObject, isText } from "../../tools/values/predicates.ts";
import type { SandboxMount, SandboxSnapshot, SnapshotOptions } from "../contract.ts";
import { type ContainerEngine, callEngine, commandLineOf } from "./engine.ts";
import { dropUntagged, SNAPSHOT_LABEL, snapshotTag } from "./snapshotImages.ts";

const ASK_TIMEOUT_MS = 10_000;
const COMMIT_TIMEOUT_MS = 600_000;

/** The engine sets them for every container, and sanddune the last one. */
const ENGINE_VARIABLES: ReadonlySet<string> = new Set([
  ...["PATH", "HOME", "TERM", "HOSTNAME", "container"],
  SANDBOX_VARIABLE,
]);

const failure = (engine: ContainerEngine, container: string, output: string): SandboxError =>
  new SandboxError(engine.name, `the state of the container ${container} could not be kept`, output);

const textsIn = (json: string): readonly string[] => {
  const value = parseJson(json);
  return Array.isArray(value) ? value.filter(isText) : [];
};

/** The engine gives the volumes of an image, and all others without a name, a name of 64 digits. */
const endsWithContainer = ({ Type: type, Name: name }: Readonly<Record<string, unknown>>): boolean =>
  type === "tmpfs" || (type === "volume" && /^[0-9a-f]{64}$/.test(String(name)));

/**
 * The first place of a volume or a tmpfs that ends with the container. An overlay of the worktree is one, too, and not part of its
 * state.
 */
const ownVolume = (
  volumes: string,
  tmpfs: string,
  mounts: readonly Pick<SandboxMount, "sandboxPath">[],
): string | undefined => {
  const [listed, byOption] = [parseJson(volumes), parseJson(tmpfs)];
  const places = (Array.isArray(listed) ? listed.filter(isObject) : [])
    .filter(endsWithContainer)
    .map(({ Destination: place }) => String(place));
  return [...places, ...Object.keys(isObject(byOption) ? byOption : {})].find(
    (place) => !mounts.some(({ sandboxPath }) => sandboxPath === place),
  );
};

/**
 * Refuses a container whose image would hold too much or too little. Docker writes the config of the container into the image, where
 * all who may use the engine can read it, and offers no way to leave an env var of `extraArgs` out. Those of `env` are not in the
 * config. Files in volumes and in a tmpfs are not in the image.
 */
const requireKeepable = async (
  engine: ContainerEngine,
  container: string,
  mounts: readonly Pick<SandboxMount, "sandboxPath">[],
): Promise<void> => {
  const ask = async (args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await callEngine(engine, args, { timeoutMs: ASK_TIMEOUT_MS });
    if (exitCode !== 0) throw failure(engine, container, stderr);
    return stdout.trim();
  };
  const refuse = (reason: string) =>
    new SandboxError(engine.name, `its state cannot be kept, because ${reason}`);
  const format = "{{.Image}}\n{{json .Config.Env}}\n{{json .Mounts}}\n{{json .HostConfig.Tmpfs}}";
  const answer = await ask(["inspect", "--type", "container", "--format", format, container]);
  const [image = "", env = "", volumes = "", tmpfs = ""] = answer.split("\n");
  const place = ownVolume(volumes, tmpfs, mounts);
  if (place !== undefined) {
    throw refuse(
      `${place} is a volume or a tmpfs of the container, whose files would be missing. Use an image without it, or put something else there with the option \`mounts\``,
    );
  }
  const ofImage = new Set(
    textsIn(await ask(["image", "inspect", "--format", "{{json .Config.Env}}", image])),
  );
  const name = textsIn(env)
    .filter((variable) => !ofImage.has(variable))
    .map((variable) => variable.slice(0, variable.indexOf("=")))
    .find((variable) => !ENGINE_VARIABLES.has(variable));
  if (name === undefined) return;
  throw refuse(
    `the env var ${name} of \`extraArgs\` would become part of an image. Declare it with the option \`env\` instead`,
  );
};

/** Labels by which containers of a run are found: this image is of no run. */
const RUN_LABELS = ["run", "owner", "expires"] as const;

/** What the image needs of the one that the container was started from. */
interface ImageDetails {
  readonly repositoryPath: string;
  /** The user of the image; empty if it is root. */
  readonly imageUser?: string;
  /** Mounts of sanddune and of the user, which a new container gets again. */
  readonly mounts?: readonly Pick<SandboxMount, "sandboxPath">[];
}

/** Keeps the file system of a container, without its mounts, as an image. Resolves with the image's id. */
export const commitContainer = async (
  engine: ContainerEngine,
  container: string,
  { name, signal }: SnapshotOptions,
  { repositoryPath, imageUser = "", mounts = [] }: ImageDetails,
): Promise<string> => {
  const labels = [
    ...RUN_LABELS.map((label) => `LABEL sanddune.${label}=`),
    `LABEL ${SNAPSHOT_LABEL}=${name}`,
    `LABEL sanddune.repository=${JSON.stringify(repositoryPath)}`,
  ];
  const args = [
    ...engine.commitArguments,
    ...[...labels, `USER ${imageUser || "0:0"}`].flatMap((change) => ["--change", change]),
    container,
    snapshotTag(name),
  ];
  await requireKeepable(engine, container, mounts);
  signal?.throwIfAborted();
  try {
    // Without the signal: if the client is killed half-way, the daemon may make the image later.
    const { exitCode, stdout, stderr } = await callEngine(engine, args, { timeoutMs: COMMIT_TIMEOUT_MS });
    const [, id] = /^(?:sha256:)?([0-9a-f]{64})$/m.exec(stdout) ?? [];
    if (exitCode !== 0 || id === undefined) throw failure(engine, container, stderr || stdout);
    signal?.throwIfAborted();
    return `sha256:${id}`;
  } catch (error) {
    // The caller checks whether an image is left.
    await removeSnapshotImage(engine, name).catch(() => {});
    throw error;
  }
};

/**
 * Removes the image of a snapshot. While containers use it, it only loses its tag; the last of them removes it when it is closed.
 */
export const removeSnapshotImage = async (engine: ContainerEngine, name: string): Promise<void> => {
  const tag = snapshotTag(name);
  const { exitCode, stderr } = await callEngine(engine, engine.untagArguments(tag), {
    timeoutMs: ASK_TIMEOUT_MS,
  });
  if (exitCode !== 0 && !/no such image|image not known/i.test(stderr)) {
    throw new SandboxError(
      engine.name,
      `the image ${tag} could not be removed. Try: ${commandLineOf(engine)} ${engine.untagArguments(tag).join(" ")}`,
      stderr,
    );
  }
  await dropUntagged(engine, name);
};

/** The image to start from: by its id, because a tag can be moved. */
export const imageIdOf = (engine: ContainerEngine, { name, state }: SandboxSnapshot): string => {
  if (/^sha256:[0-9a-f]{64}$/.test(state)) return state;
  throw new SandboxError(engine.name, `the state of the snapshot ${name} is not the id of an image`);
};
