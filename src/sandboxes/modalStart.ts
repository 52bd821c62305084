import type { App, Image, ModalClient, Sandbox } from "modal";
import type { SandboxCreateOptions } from "./contract.ts";
import { inTime } from "./inTime.ts";
import { modalError } from "./modalClient.ts";
import type { ModalSettings } from "./modalOptions.ts";
import { modalTags } from "./modalTags.ts";
import { terminateTagged } from "./modalTerminate.ts";

const APP_TIMEOUT_MS = 60_000;
const BUILD_TIMEOUT_MS = 60 * 60_000;
/** Modal answers when it has found a machine. */
const CREATE_TIMEOUT_MS = 10 * 60_000;
/** How long somebody who has given up waits for a sandbox that is about to come. A later one is ended as well. */
const LATE_MS = 10_000;

const imageOf = async (
  { images }: ModalClient,
  { imageName, dockerfileCommands }: ModalSettings,
): Promise<Image> => {
  const base = imageName.startsWith("im-") ? await images.fromId(imageName) : images.fromRegistry(imageName);
  return dockerfileCommands.length > 0 ? base.dockerfileCommands([...dockerfileCommands]) : base;
};

/** What a sandbox is made in, and of. That may take long the first time. */
const prepare = async (client: ModalClient, settings: ModalSettings, signal: AbortSignal | undefined) => {
  const getApp = client.apps.fromName(settings.app, { createIfMissing: true });
  const app = await inTime(getApp, { timeoutMs: APP_TIMEOUT_MS, signal });
  const build = imageOf(client, settings).then((image) => image.build(app));
  return { app, image: await inTime(build, { timeoutMs: BUILD_TIMEOUT_MS, signal }) };
};

const parametersOf = ({ lifetimeMs, cpus, memoryMiB, network }: ModalSettings) => ({
  timeoutMs: lifetimeMs,
  ...(cpus !== undefined && { cpu: cpus, cpuLimit: cpus }),
  ...(memoryMiB !== undefined && { memoryMiB, memoryLimitMiB: memoryMiB }),
  ...(network === "none" && { blockNetwork: true }),
  ...(typeof network === "object" && {
    outboundDomainAllowlist: network.domains && [...network.domains],
    outboundCidrAllowlist: network.cidrs && [...network.cidrs],
  }),
});

const create = async (
  client: ModalClient,
  { app, image }: { readonly app: App; readonly image: Image },
  settings: ModalSettings,
  { runId, sandboxName, signal }: SandboxCreateOptions,
): Promise<Sandbox> => {
  const request = client.sandboxes.create(app, image, {
    ...parametersOf(settings),
    name: sandboxName,
    tags: modalTags({ runId, sandboxName }, settings.lifetimeMs),
  });
  try {
    return await inTime(request, { timeoutMs: CREATE_TIMEOUT_MS, signal });
  } catch (error) {
    // What was asked for may still come into being, and an answer that was lost may have been about a sandbox.
    const ended = request.then((late) => late.terminate());
    await inTime(ended, { timeoutMs: LATE_MS }).catch(() => {});
    await terminateTagged(client, app, { runId, sandboxName }).catch(() => {});
    throw error;
  }
};

export interface StartedSandbox {
  readonly sandbox: Sandbox;
  /** When Modal ends it, by `Date.now()`. */
  readonly endsAtMs: number;
}

/** Makes a sandbox at Modal. If that fails or is aborted, nothing is left behind. */
export const startModalSandbox = async (
  client: ModalClient,
  settings: ModalSettings,
  options: SandboxCreateOptions,
): Promise<StartedSandbox> => {
  const { signal } = options;
  try {
    const ready = await prepare(client, settings, signal);
    signal?.throwIfAborted();
    // It may live for minutes before its creation is answered; while its image is built, it does not.
    const endsAtMs = Date.now() + settings.lifetimeMs;
    return { sandbox: await create(client, ready, settings, options), endsAtMs };
  } catch (error) {
    signal?.throwIfAborted();
    throw modalError(`a sandbox with the image ${settings.imageName} could not be made`, error);
  }
};
