import { existsSync } from "node:fs";
import { SandboxError } from "../../errors.ts";
import { findProgram } from "../../process/hostPrograms.ts";
import { isText } from "../../tools/values/predicates.ts";
import { orAborted } from "../../tools/wait/onAbort.ts";
import { sharedAnswer } from "../../tools/wait/sharedAnswer.ts";
import type { PreflightOptions } from "../contract.ts";
import { type ContainerEngine, callEngine, unavailability } from "./engine.ts";
import { type ContainerOptions, imageOf } from "./options.ts";
import { askSocket } from "./socket/askSocket.ts";

const INSPECT_TIMEOUT_MS = 10_000;
/** A daemon that takes longer is asked by the engine's client. */
const PATIENCE_MS = 2000;

/** Without the client, which would be one more process of every run. `undefined` if the client has to be asked. */
const askDaemon = async (engine: ContainerEngine, image: string): Promise<string | undefined> => {
  const socketPath = engine.localSocket();
  // Later steps need the client too: if there is none, its absence is reported now.
  if (socketPath === undefined || !existsSync(findProgram(engine.name))) return undefined;
  const path = ["images", ...image.split("/"), "json"];
  const answer = await askSocket(socketPath, { method: "GET", path }, PATIENCE_MS).catch(() => undefined);
  const id = answer?.status === 200 ? answer.object?.["Id"] : undefined;
  return isText(id) ? id : undefined;
};

/** The client says why an image cannot be looked up. */
const askImageId = async (engine: ContainerEngine, image: string): Promise<string> => {
  const known = await askDaemon(engine, image);
  if (known !== undefined) return known;
  const inspected = await callEngine(engine, ["image", "inspect", "--format", "{{.Id}}", image], {
    timeoutMs: INSPECT_TIMEOUT_MS,
  });
  if (inspected.exitCode === 0) return inspected.stdout.trim();
  throw (
    unavailability(engine, image, inspected.stderr) ??
    new SandboxError(engine.name, `the image ${image} could not be looked up`, inspected.stderr)
  );
};

/** The id of the image, which has to exist. */
export type ImageId = (options: PreflightOptions) => Promise<string>;

/** Looks the image up again after `freshMs`. */
export const imageIds = (engine: ContainerEngine, settings: ContainerOptions, freshMs: number): ImageId => {
  const answers = new Map<string, () => Promise<string>>();
  return async ({ repositoryPath, signal }) => {
    signal?.throwIfAborted();
    const image = imageOf(settings, repositoryPath);
    const ask = answers.get(image) ?? sharedAnswer(freshMs, () => askImageId(engine, image));
    answers.set(image, ask);
    return orAborted(ask(), signal);
  };
};
