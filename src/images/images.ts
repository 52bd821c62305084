import { ForeignImageError } from "../errors/commandErrors.ts";
import { SandboxError } from "../errors.ts";
import {
  callEngine,
  type EngineClient,
  engineClients,
  unavailability,
} from "../sandboxes/containers/engine.ts";
import { retry } from "../tools/wait/retry.ts";

const TIMEOUT_MS = 30_000;

/** The label with the name under which sanddune built an image. */
export const IMAGE_LABEL = "sanddune.image";

/** Problems of the engine itself are `SandboxUnavailableError`s. */
const lookUpError = (client: EngineClient, imageName: string, stderr: string): Error =>
  unavailability(client, imageName, stderr) ??
  new SandboxError(client.name, `the image ${imageName} could not be looked up`, stderr);

/** Asks the engine about its images. */
const ask = async (client: EngineClient, args: readonly string[], imageName: string): Promise<string> => {
  const { exitCode, stdout, stderr } = await callEngine(client, args, { timeoutMs: TIMEOUT_MS });
  if (exitCode === 0) return stdout.trim();
  throw lookUpError(client, imageName, stderr);
};

/** How many bytes an image takes. */
export const imageSize = async (engine: EngineClient["name"], imageName: string): Promise<number> =>
  Number(
    await ask(engineClients[engine], ["image", "inspect", "--format", "{{.Size}}", imageName], imageName),
  );

/** Podman lists images by looking at each, and gives up if another process removes one meanwhile. */
const IMAGE_WENT = /image not known|file does not exist/;
const LIST_ATTEMPTS = 10;

/** All tags that the engine has, as it writes them. */
export const listTags = async (client: EngineClient): Promise<string[]> => {
  const args = ["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"];
  let complaint = "";
  const list = async () => {
    const { exitCode, stdout, stderr } = await callEngine(client, args, { timeoutMs: TIMEOUT_MS });
    complaint = stderr;
    if (exitCode !== 0) throw lookUpError(client, "", stderr);
    return stdout.split("\n").filter((tag) => tag !== "");
  };
  const pauseAfter = () => (IMAGE_WENT.test(complaint) ? 0 : undefined);
  return retry(list, { attempts: LIST_ATTEMPTS, pauseAfter });
};

/**
 * Makes sure that an existing image was built by sanddune under that name: a config file from a commit can name any image of the
 * machine. Throws a `ForeignImageError`.
 */
export const checkIsOwnImage = async (engine: EngineClient["name"], imageName: string): Promise<void> => {
  const client = engineClients[engine];
  const format = `{{index .Config.Labels "${IMAGE_LABEL}"}}`;
  // By its name, as the engine understands it: there are many ways to write one.
  const { exitCode, stdout, stderr } = await callEngine(
    client,
    ["image", "inspect", "--format", format, imageName],
    { timeoutMs: TIMEOUT_MS },
  );
  if (exitCode !== 0 && /no such image|image not known/i.test(stderr)) return;
  if (exitCode !== 0) throw lookUpError(client, imageName, stderr);
  if (stdout.trim() !== imageName) throw new ForeignImageError(engine, imageName);
};

/** The containers that were made from an image, by any of its names, running or not. */
export const containersOf = async (client: EngineClient, imageName: string): Promise<string[]> => {
  const id = await ask(client, ["image", "inspect", "--format", "{{.Id}}", imageName], imageName);
  const filter = ["--all", "--filter", `ancestor=${id}`, "--format", "{{.Names}}"];
  const listed = await ask(client, ["ps", ...filter], imageName);
  return listed.split("\n").filter((name) => name !== "");
};
