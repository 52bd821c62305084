import type { App, Image, ModalClient, Sandbox } from "modal";
import { inTime } from "../../tools/wait/timeLimit.ts";
import type { SandboxCreateOptions, SandboxSnapshot } from "../contract.ts";
import { makeSandbox } from "../services/makeSandbox.ts";
import { readState } from "../services/snapshotState.ts";
import { untilAccepted } from "../services/untilAccepted.ts";
import { MODAL, modalError, modalTransience } from "./client.ts";
import type { ModalSettings } from "./options.ts";
import { modalTags } from "./tags.ts";
import { terminateModalSandbox, terminateTagged } from "./terminate.ts";

const BUILD_TIMEOUT_MS = 60 * 60_000;

const imageOf = async (
  { images }: ModalClient,
  { imageName, dockerfileCommands }: ModalSettings,
  snapshot: SandboxSnapshot | undefined,
): Promise<Image> => {
  if (snapshot !== undefined) return images.fromId(readState(MODAL, snapshot).id);
  const base = imageName.startsWith("im-") ? await images.fromId(imageName) : images.fromRegistry(imageName);
  return dockerfileCommands.length > 0 ? base.dockerfileCommands([...dockerfileCommands]) : base;
};

/** Prepares the app and the image of a sandbox. That may take long the first time. */
const prepare = async (
  client: ModalClient,
  settings: ModalSettings,
  { snapshot, signal }: Pick<SandboxCreateOptions, "snapshot" | "signal">,
) => {
  const inLimit = <A>(timeoutMs: number, ask: () => Promise<A>) =>
    untilAccepted((leftMs) => inTime(ask, { timeoutMs: leftMs, signal }), {
      timeoutMs,
      signal,
      transienceOf: modalTransience,
    });
  const app = await inLimit(settings.requestTimeoutMs, () =>
    client.apps.fromName(settings.app, { createIfMissing: true }),
  );
  const build = async () => (await imageOf(client, settings, snapshot)).build(app);
  return { app, image: await inLimit(BUILD_TIMEOUT_MS, build) };
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

const create = (
  client: ModalClient,
  { app, image }: { readonly app: App; readonly image: Image },
  settings: ModalSettings,
  { runId, sandboxName, signal }: SandboxCreateOptions,
): Promise<Sandbox> => {
  const { requestTimeoutMs: timeoutMs } = settings;
  return makeSandbox({
    // Closing the connection aborts the request.
    ask: () =>
      client.sandboxes.create(app, image, {
        ...parametersOf(settings),
        name: sandboxName,
        tags: modalTags({ runId, sandboxName }, settings.lifetimeMs),
      }),
    end: (late) => terminateModalSandbox(late, timeoutMs),
    endUnknown: (given) => terminateTagged(client, app, { runId, sandboxName }, { timeoutMs, signal: given }),
    limits: settings,
    signal,
    transienceOf: modalTransience,
  });
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
    const ready = await prepare(client, settings, options);
    signal?.throwIfAborted();
    // Its life may begin minutes before its creation is answered, but not while its image is built.
    const endsAtMs = Date.now() + settings.lifetimeMs;
    return { sandbox: await create(client, ready, settings, options), endsAtMs };
  } catch (error) {
    signal?.throwIfAborted();
    throw modalError(`a sandbox with the image ${settings.imageName} could not be made`, error);
  }
};
