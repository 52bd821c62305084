import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { createKeeper, createLoopbackMachine, type LoopbackMachine } from "./loopbackMachine.ts";
import { modalCommands } from "./modalCommands.ts";
import { type CallContext, type Handler, loadModalDefinitions } from "./modalDefinitions.ts";
import { type ModalFaults, modalFaults, STATUS, type Status } from "./modalFaults.ts";

interface Tag {
  readonly tagName: string;
  readonly tagValue: string;
}

interface CreateRequest {
  readonly appId: string;
  readonly tags: readonly Tag[];
  readonly definition: { readonly name: string; readonly timeoutSecs: number; readonly imageId: string };
  readonly secretSources: readonly unknown[];
}

interface ListRequest {
  readonly appId: string;
  readonly tags: readonly Tag[];
  readonly beforeTimestamp: number;
}

interface SandboxRequest {
  readonly sandboxId: string;
}

/** A sandbox that the server has made. */
export interface ServedSandbox {
  readonly id: string;
  readonly machine: LoopbackMachine;
  /** What the client has asked for. */
  readonly request: CreateRequest;
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Set when it is over: what Modal says about that. */
  result?: { readonly status: number; readonly exitcode: number };
}

export interface ModalServer extends ModalFaults {
  /** What the SDK needs in its environment to come here. */
  readonly env: Readonly<Record<string, string>>;
  /** Another token of the same account. */
  readonly otherToken: Readonly<Record<string, string>>;
  /** The methods that were called, in order. */
  readonly calls: readonly string[];
  /** The ids of apps, by their names; those that are not in the default environment by `environment/name`. */
  readonly apps: ReadonlyMap<string, string>;
  readonly sandboxes: readonly ServedSandbox[];
  /** The lines of the Dockerfiles that were to be built. */
  readonly builds: readonly (readonly string[])[];
  /** The images that were made of sandboxes, by their ids. */
  readonly images: ReadonlyMap<string, { readonly files: string; readonly ttlSeconds: number }>;
  /** Those that are not over. */
  running(): ServedSandbox[];
  /** Ends a sandbox from outside. */
  end(sandbox: ServedSandbox, how: "terminated" | "timed out" | "crashed"): Promise<void>;
  /** Tokens for the command router that were handed out so far are not accepted any more. */
  expireTokens(): void;
  close(): Promise<void>;
}

const CREDENTIALS = { MODAL_TOKEN_ID: "ak-loopback", MODAL_TOKEN_SECRET: "as-loopback" };
const OTHER_TOKEN = { MODAL_TOKEN_ID: "ak-other", MODAL_TOKEN_SECRET: "as-other" };
const RESULTS = {
  terminated: { status: 3, exitcode: 137 },
  "timed out": { status: 4, exitcode: 124 },
  crashed: { status: 2, exitcode: 1 },
};

/** A server of our own that speaks Modal's protocol to the real SDK, and is at least as unkind as the service. */
export const startModalServer = async ({
  enforcesDeadlines = true,
}: {
  readonly enforcesDeadlines?: boolean;
} = {}): Promise<ModalServer> => {
  const { controlPlane, commandRouter, grpc } = loadModalDefinitions();
  const fail = (status: Status, details: string) => new grpc.ServerError(status, details);
  const faults = modalFaults(fail);
  const calls: string[] = [];
  const apps = new Map<string, string>();
  const sandboxes: ServedSandbox[] = [];
  const created = new Map<string, Promise<ServedSandbox>>();
  const builds: string[][] = [];
  const keeper = createKeeper();
  const images = new Map<string, { readonly files: string; readonly ttlSeconds: number }>();
  let oldestToken = 0;
  let newestToken = 0;
  let port = 0;

  const find = (isIt: (sandbox: ServedSandbox) => boolean): ServedSandbox => {
    const sandbox = sandboxes.find(isIt);
    if (sandbox === undefined) throw fail(STATUS.NOT_FOUND, "no such sandbox");
    return sandbox;
  };
  const byId = ({ sandboxId }: SandboxRequest) => find(({ id }) => id === sandboxId);
  const running = () => sandboxes.filter(({ result }) => result === undefined);
  const commands = modalCommands((taskId) => {
    const sandbox = find(({ id }) => taskId === `ta-${id}`);
    if (sandbox.result !== undefined) throw fail(STATUS.NOT_FOUND, "the task is over");
    return sandbox.machine;
  }, fail);
  const end: ModalServer["end"] = async (sandbox, how) => {
    if (sandbox.result !== undefined) return;
    sandbox.result = RESULTS[how];
    await commands.lose(sandbox.machine);
  };
  /** Short-lived, so that the SDK asks for another one when it is refused. */
  const token = (): string => {
    const payload = { exp: Math.floor(Date.now() / 1000) + 20, serial: ++newestToken };
    return `header.${Buffer.from(JSON.stringify(payload)).toString("base64url")}.signature`;
  };
  const access = () => ({ url: `https://127.0.0.1:${port}`, jwt: token() });

  const create = async (request: CreateRequest): Promise<ServedSandbox> => {
    const isTaken = running().some(
      (other) =>
        other.request.appId === request.appId && other.request.definition.name === request.definition.name,
    );
    if (isTaken) throw fail(STATUS.ALREADY_EXISTS, "there is a sandbox of that name");
    const sandbox: ServedSandbox = {
      id: `sb-loopback-${randomBytes(6).toString("hex")}`,
      machine: await createLoopbackMachine(images.get(request.definition.imageId)?.files),
      request,
      // Pages are told apart by it.
      createdAt: Date.now() / 1000 + sandboxes.length * 1e-3,
      tags: Object.fromEntries(request.tags.map(({ tagName, tagValue }) => [tagName, tagValue])),
    };
    sandboxes.push(sandbox);
    if (enforcesDeadlines) {
      setTimeout(() => void end(sandbox, "timed out"), request.definition.timeoutSecs * 1000).unref();
    }
    return sandbox;
  };

  const control = {
    authTokenGet: async () => ({ token: token() }),
    appGetOrCreate: async ({
      appName,
      environmentName,
      objectCreationType,
    }: {
      appName: string;
      environmentName: string;
      objectCreationType: number;
    }) => {
      const name = environmentName === "" ? appName : `${environmentName}/${appName}`;
      if (!apps.has(name) && objectCreationType === 0) throw fail(STATUS.NOT_FOUND, "no such app");
      if (!apps.has(name)) apps.set(name, `ap-${apps.size + 1}`);
      return { appId: apps.get(name) };
    },
    environmentGetOrCreate: async () => ({
      environmentId: "en-1",
      metadata: { name: "main", settings: { imageBuilderVersion: "2025.06" } },
    }),
    imageGetOrCreate: async ({ image }: { image: { dockerfileCommands: string[] } }) => {
      builds.push(image.dockerfileCommands);
      return { imageId: "im-1", result: { status: 1 } };
    },
    imageDelete: async ({ imageId }: { imageId: string }) => {
      const image = images.get(imageId);
      if (image === undefined) throw fail(STATUS.NOT_FOUND, "no such image");
      images.delete(imageId);
      await rm(image.files, { recursive: true, force: true });
      return {};
    },
    imageFromId: async ({ imageId }: { imageId: string }) => ({ imageId }),
    sandboxCreateV2: async (request: CreateRequest, { metadata }: CallContext) => {
      // What is sent again because its answer was lost has the same key.
      const key = metadata.get("x-idempotency-key") ?? "";
      if (!created.has(key)) created.set(key, create(request));
      const { id } = (await created.get(key)) as ServedSandbox;
      return { sandboxId: id, taskId: `ta-${id}`, commandRouterAccess: access() };
    },
    sandboxGetTaskIdV2: async (request: SandboxRequest) => ({ taskId: `ta-${byId(request).id}` }),
    sandboxGetCommandRouterAccess: async (request: SandboxRequest) => {
      byId(request);
      return access();
    },
    // One at a time: whoever does not ask for the next page misses most of them.
    sandboxListV2: async ({ appId, tags, beforeTimestamp }: ListRequest) => ({
      sandboxes: running()
        .filter((sandbox) => sandbox.request.appId === appId)
        .filter((sandbox) => tags.every(({ tagName, tagValue }) => sandbox.tags[tagName] === tagValue))
        .filter(({ createdAt }) => !beforeTimestamp || createdAt < beforeTimestamp)
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, 1)
        .map(({ id, createdAt }) => ({ id, createdAt })),
    }),
    sandboxTagsGetV2: async (request: SandboxRequest) => ({
      tags: Object.entries(byId(request).tags).map(([tagName, tagValue]) => ({ tagName, tagValue })),
    }),
    sandboxWaitV2: async (request: SandboxRequest) => ({ result: byId(request).result }),
    sandboxTerminateV2: async (request: SandboxRequest) => {
      await end(byId(request), "terminated");
      return {};
    },
  };

  const router = {
    ...commands,
    taskSnapshotFilesystem: async ({ taskId, ttlSeconds }: { taskId: string; ttlSeconds: number }) => {
      const { machine, result } = find(({ id }) => taskId === `ta-${id}`);
      if (result !== undefined) throw fail(STATUS.NOT_FOUND, "the task is over");
      const imageId = `im-kept-${randomBytes(6).toString("hex")}`;
      images.set(imageId, { files: await keeper.keep(machine), ttlSeconds });
      return { imageId };
    },
  };

  const requireCredentials = ({ metadata }: CallContext) => {
    const isKnown = [CREDENTIALS, OTHER_TOKEN].some(
      ({ MODAL_TOKEN_ID, MODAL_TOKEN_SECRET }) =>
        metadata.get("x-modal-token-id") === MODAL_TOKEN_ID &&
        metadata.get("x-modal-token-secret") === MODAL_TOKEN_SECRET,
    );
    if (!isKnown) throw fail(STATUS.UNAUTHENTICATED, "Token ID or secret is wrong");
  };
  const requireToken = ({ metadata }: CallContext) => {
    const [, payload = ""] = (metadata.get("authorization") ?? "").split(".");
    const { serial = 0 } = JSON.parse(Buffer.from(payload, "base64url").toString() || "{}") as {
      serial?: number;
    };
    if (serial <= oldestToken) throw fail(STATUS.UNAUTHENTICATED, "the token has expired");
  };
  const service = (
    { methods }: typeof controlPlane,
    handlers: Readonly<Record<string, unknown>>,
    authenticate: (context: CallContext) => void,
  ): Record<string, Handler> =>
    Object.fromEntries(
      Object.entries(methods).map(([name, { responseStream }]) => {
        const handler = (handlers[name] ??
          (() => Promise.reject(fail(STATUS.UNIMPLEMENTED, name)))) as Handler;
        const authenticated: Handler = (request, context) => {
          calls.push(name);
          authenticate(context);
          return handler(request, context);
        };
        return [
          name,
          responseStream ? faults.streaming(name, authenticated) : faults.unary(name, authenticated),
        ];
      }),
    );

  const server = grpc.createServer();
  server.add(controlPlane, service(controlPlane, control, requireCredentials));
  server.add(commandRouter, service(commandRouter, router, requireToken));
  port = await server.listen("127.0.0.1:0");
  return {
    ...faults.control,
    env: {
      ...CREDENTIALS,
      MODAL_SERVER_URL: `http://127.0.0.1:${port}`,
      MODAL_CONFIG_PATH: "/nowhere/modal.toml",
    },
    otherToken: OTHER_TOKEN,
    calls,
    apps,
    sandboxes,
    builds,
    images,
    running,
    end,
    expireTokens: () => {
      oldestToken = newestToken;
    },
    close: async () => {
      await keeper.removeAll();
      await Promise.all(running().map((sandbox) => end(sandbox, "terminated")));
      server.forceShutdown();
    },
  };
};
