import { randomUUID } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { Loopback, type LoopbackRequest, type Reply } from "./loopback.ts";
import {
  asRoot,
  createKeeper,
  createLoopbackMachine,
  type LoopbackMachine,
  NO_ROOT,
} from "./loopbackMachine.ts";
import { OutlivingProcess, type ProcessOutput } from "./outlivingProcess.ts";

export interface VercelCreateRequest {
  readonly name: string;
  readonly image?: string;
  readonly timeout?: number;
  readonly resources?: { readonly vcpus?: number };
  readonly env?: Record<string, string>;
  readonly tags?: Record<string, string>;
  readonly persistent?: boolean;
  readonly networkPolicy?: unknown;
  readonly source?: { readonly type: string; readonly snapshotId?: string };
}

interface LoopbackCommand {
  readonly id: string;
  readonly request: { readonly command: string; readonly args?: string[]; readonly sudo?: boolean };
  readonly startedAt: number;
  readonly process: OutlivingProcess;
  /** All that it has printed, as text: that is how the service keeps it. */
  readonly printed: { readonly stream: string; readonly data: string }[];
}

/** A sandbox, as the stand-in for Vercel knows it. Its session is its virtual machine. */
export interface LoopbackVercelSandbox {
  readonly name: string;
  readonly sessionId: string;
  readonly machine: LoopbackMachine;
  readonly cwd: string;
  readonly request: VercelCreateRequest;
  readonly commands: Map<string, LoopbackCommand>;
  readonly startedAt: number;
  /** The snapshot that the session was started from. */
  readonly sourceSnapshotId?: string;
  /** The files of its sessions are kept, and another session continues with them. */
  persistent: boolean;
  /** The snapshot by which another session would continue, if it is persistent. */
  snapshotId?: string;
  timeout: number;
  status: "running" | "stopped";
  deadline?: NodeJS.Timeout;
}

/** Of the package with which the SDK packs files, which is a dependency of its own. */
interface Tar {
  extract(): Writable &
    AsyncIterable<Readable & { readonly header: { readonly name: string; readonly mode: number } }>;
}
const tar = createRequire(createRequire(import.meta.url).resolve("@vercel/sandbox"))("tar-stream") as Tar;

const TOKEN = "loopback-token";
const MISSING_IMAGE = "no/such/image";
const MAX_TAGS = 5;
const MIN_EXTENSION_MS = 1000;

/**
 * Speaks Vercel's protocol for the SDK as it is published. As unkind as the service: ending a request ends nothing, a
 * signal hits one process, output is text, a session that has stopped answers with 410, and asking for its sandbox without
 * care would start a new one.
 */
export class VercelServer {
  readonly sandboxes = new Map<string, LoopbackVercelSandbox>();
  readonly #forgotten: LoopbackVercelSandbox[] = [];
  /** How long a session may last altogether: what the plan allows. */
  longestMs = Number.POSITIVE_INFINITY;
  /** How long it lasts beyond that: for tests on a machine of which nobody knows how busy it is. */
  graceMs = 0;
  /** The snapshots that exist, by their ids. */
  readonly #keeper = createKeeper();
  readonly snapshots = new Map<
    string,
    {
      readonly files: string;
      readonly expiration?: number;
      readonly sessionId: string;
      readonly name: string;
    }
  >();
  /** What sandboxes were asked for. */
  readonly created: VercelCreateRequest[] = [];
  /** PATH in sandboxes, if it is not to be the host's. */
  path: string | undefined;
  /** On whose behalf somebody has asked last. */
  lastTeam: string | null = null;
  /** What sandboxes were made as they were updated: persistent or not. */
  readonly persistence: boolean[] = [];
  /** How often a sandbox was started anew, because somebody asked for it. */
  resumed = 0;
  readonly loopback = new Loopback(
    (request) => this.#answer(request),
    (_, message) => ({ error: { code: "on_demand", message } }),
  );

  /** What `vercel()`, the SDK and `vercelRoute.mjs` take from the environment. */
  get env(): Readonly<Record<string, string>> {
    return {
      VERCEL_TOKEN: TOKEN,
      VERCEL_TEAM_ID: "team_loopback",
      VERCEL_PROJECT_ID: "prj_loopback",
      VERCEL_SANDBOX_TELEMETRY_DISABLED: "1",
      LOOPBACK_VERCEL: this.loopback.url,
    };
  }

  /** The sandbox, where there is only one. */
  get sandbox(): LoopbackVercelSandbox {
    const [sandbox] = this.sandboxes.values();
    if (sandbox === undefined) throw new Error("there is no sandbox");
    return sandbox;
  }

  /** Stops the session of a sandbox; its name is still known. */
  async stop(sandbox: LoopbackVercelSandbox): Promise<void> {
    clearTimeout(sandbox.deadline);
    sandbox.status = "stopped";
    // A process that was just being started may have come in between.
    await sandbox.machine.destroy().catch(() => sandbox.machine.destroy());
  }

  /** Removes a sandbox as if nobody had asked for it. */
  async lose(sandbox: LoopbackVercelSandbox): Promise<void> {
    this.sandboxes.delete(sandbox.name);
    await this.stop(sandbox);
  }

  /** Says that a sandbox is gone; what runs in it, and who listens to that, is not told. */
  forget(sandbox: LoopbackVercelSandbox): void {
    this.sandboxes.delete(sandbox.name);
    clearTimeout(sandbox.deadline);
    this.#forgotten.push(sandbox);
  }

  async close(): Promise<void> {
    await this.loopback.close();
    await this.#keeper.removeAll();
    await Promise.all([...this.sandboxes.values(), ...this.#forgotten].map((sandbox) => this.lose(sandbox)));
  }

  async #answer(request: LoopbackRequest): Promise<Reply> {
    const { method, url } = request;
    const path = url.pathname.replace(/^\/api/, "");
    this.lastTeam = url.searchParams.get("teamId");
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return refusal(403, "forbidden", "this token is unknown");
    if (/^\/v[23]\/sandboxes$/.test(path)) {
      return method === "POST" ? this.#create(await jsonOf(request)) : this.#list(url);
    }
    const [, sessionId, rest = ""] = /^\/v2\/sandboxes\/sessions\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    if (sessionId !== undefined) return this.#session(sessionId, rest, request);
    if (path === "/v2/sandboxes/snapshots") return this.#listSnapshots(url);
    const [, snapshotId] = /^\/v2\/sandboxes\/snapshots\/([^/]+)$/.exec(path) ?? [];
    if (snapshotId !== undefined) return this.#snapshot(snapshotId, method === "DELETE");
    const [, name = ""] = /^\/v2\/sandboxes\/([^/]+)$/.exec(path) ?? [];
    const sandbox = this.sandboxes.get(decodeURIComponent(name));
    if (sandbox === undefined) return refusal(404, "not_found", `there is no sandbox ${name}`);
    if (method === "DELETE") {
      await this.lose(sandbox);
      if (url.searchParams.get("deleteOrphanSnapshots") === "true") await this.#deleteSnapshotsOf(sandbox);
      return { status: 200, json: { sandbox: describe(sandbox) } };
    }
    if (method === "PATCH") return this.#update(sandbox, await jsonOf(request));
    if (sandbox.status === "stopped" && url.searchParams.get("resume") !== "false") {
      this.resumed++;
      return this.#continue(sandbox, sandbox.persistent ? sandbox.snapshotId : undefined);
    }
    return { status: 200, json: { sandbox: describe(sandbox), session: sessionOf(sandbox), routes: [] } };
  }

  async #create(request: VercelCreateRequest): Promise<Reply> {
    if (this.sandboxes.has(request.name)) return refusal(409, "conflict", `${request.name} is taken`);
    if (request.image === MISSING_IMAGE)
      return refusal(404, "image_not_found", `there is no image ${request.image}`);
    if (Object.keys(request.tags ?? {}).length > MAX_TAGS)
      return refusal(400, "bad_request", "too many tags");
    if ((request.timeout ?? 0) > this.longestMs)
      return refusal(400, "bad_request", "the timeout is longer than your plan allows");
    const sourceSnapshotId = request.source?.snapshotId;
    const source = sourceSnapshotId === undefined ? undefined : this.snapshots.get(sourceSnapshotId);
    if (sourceSnapshotId !== undefined && source === undefined)
      return refusal(404, "snapshot_not_found", `there is no snapshot ${sourceSnapshotId}`);
    const machine = await createLoopbackMachine(source?.files);
    const cwd = join(machine.directory, "sandbox");
    mkdirSync(cwd, { recursive: true });
    const sandbox: LoopbackVercelSandbox = {
      ...{
        name: request.name,
        sessionId: `sess_${randomUUID()}`,
        machine,
        cwd,
        request,
        commands: new Map(),
      },
      ...{ startedAt: Date.now(), timeout: request.timeout ?? 300_000, status: "running" },
      persistent: request.persistent ?? true,
      ...(sourceSnapshotId !== undefined && { sourceSnapshotId }),
    };
    this.sandboxes.set(sandbox.name, sandbox);
    this.created.push(request);
    this.#setDeadline(sandbox);
    return { status: 200, json: { sandbox: describe(sandbox), session: sessionOf(sandbox), routes: [] } };
  }

  /** A snapshot ends the session. */
  async #keep(sandbox: LoopbackVercelSandbox, expiration: number | undefined): Promise<Reply> {
    const id = `snap_${randomUUID()}`;
    this.snapshots.set(id, {
      files: await this.#keeper.keep(sandbox.machine),
      sessionId: sandbox.sessionId,
      name: sandbox.name,
      ...(expiration !== undefined && { expiration }),
    });
    if (sandbox.persistent) sandbox.snapshotId = id;
    await this.stop(sandbox);
    return { status: 200, json: { snapshot: this.#describeSnapshot(id), session: sessionOf(sandbox) } };
  }

  #describeSnapshot(id: string) {
    const now = Date.now();
    const { sessionId = "", expiration } = this.snapshots.get(id) ?? {};
    return {
      ...{ id, sourceSessionId: sessionId, region: "iad1", status: "created", sizeBytes: 1 },
      ...{ createdAt: now, updatedAt: now },
      ...(expiration !== undefined && { expiresAt: now + expiration }),
    };
  }

  async #snapshot(id: string, isDeleted: boolean): Promise<Reply> {
    const snapshot = this.snapshots.get(id);
    if (snapshot === undefined) return refusal(404, "not_found", `there is no snapshot ${id}`);
    const json = { snapshot: this.#describeSnapshot(id) };
    if (isDeleted) {
      this.snapshots.delete(id);
      await rm(snapshot.files, { recursive: true, force: true });
    }
    return { status: 200, json };
  }

  async #deleteSnapshotsOf({ name }: LoopbackVercelSandbox): Promise<void> {
    const used = new Set([...this.sandboxes.values()].map(({ sourceSnapshotId }) => sourceSnapshotId));
    for (const [id, snapshot] of this.snapshots)
      if (snapshot.name === name && !used.has(id)) await this.#snapshot(id, true);
  }

  #listSnapshots(url: URL): Reply {
    const name = url.searchParams.get("name");
    const found = [...this.snapshots].filter(([, snapshot]) => name === null || snapshot.name === name);
    const snapshots = found.map(([id]) => this.#describeSnapshot(id));
    return { status: 200, json: { snapshots, pagination: { count: found.length, next: null } } };
  }

  #update(
    sandbox: LoopbackVercelSandbox,
    { persistent, currentSnapshotId: id }: { persistent?: boolean; currentSnapshotId?: string },
  ): Reply {
    if (id !== undefined && !this.snapshots.has(id))
      return refusal(404, "snapshot_not_found", `there is no snapshot ${id}`);
    if (persistent !== undefined) {
      this.persistence.push(persistent);
      sandbox.persistent = persistent;
    }
    if (id !== undefined) sandbox.snapshotId = id;
    return { status: 200, json: { sandbox: describe(sandbox) } };
  }

  /** A session of its own, on a machine of its own. */
  async #continue(sandbox: LoopbackVercelSandbox, snapshotId: string | undefined): Promise<Reply> {
    const machine = await createLoopbackMachine(
      snapshotId && this.snapshots.get(snapshotId)?.files,
      sandbox.machine.directory,
    );
    const { deadline: _, sourceSnapshotId: __, ...rest } = sandbox;
    const continued: LoopbackVercelSandbox = {
      ...{ ...rest, machine, commands: new Map(), startedAt: Date.now() },
      ...(snapshotId !== undefined && { sourceSnapshotId: snapshotId }),
      ...{ sessionId: `sess_${randomUUID()}`, cwd: join(machine.directory, "sandbox"), status: "running" },
    };
    this.sandboxes.set(continued.name, continued);
    this.#setDeadline(continued);
    return {
      status: 200,
      json: {
        ...{ sandbox: describe(continued), session: sessionOf(continued), routes: [], resumed: true },
      },
    };
  }

  #extend(sandbox: LoopbackVercelSandbox, moreMs: number): Reply {
    if (moreMs < MIN_EXTENSION_MS) return refusal(400, "bad_request", "the duration is too short");
    if (sandbox.timeout + moreMs > this.longestMs)
      return refusal(400, "bad_request", "the timeout would be longer than your plan allows");
    sandbox.timeout += moreMs;
    this.#setDeadline(sandbox);
    return { status: 200, json: { session: sessionOf(sandbox) } };
  }

  #setDeadline(sandbox: LoopbackVercelSandbox): void {
    clearTimeout(sandbox.deadline);
    const remaining = sandbox.startedAt + sandbox.timeout - Date.now();
    sandbox.deadline = setTimeout(() => void this.stop(sandbox), remaining + this.graceMs).unref();
  }

  #list(url: URL): Reply {
    const [key = "", value] = (url.searchParams.get("tags") ?? "").split(":");
    const found = [...this.sandboxes.values()].filter(
      ({ request }) => value === undefined || request.tags?.[key] === value,
    );
    return {
      status: 200,
      json: { sandboxes: found.map(describe), pagination: { count: found.length, next: null } },
    };
  }

  async #session(sessionId: string, rest: string, request: LoopbackRequest): Promise<Reply> {
    const sandbox = [...this.sandboxes.values()].find((known) => known.sessionId === sessionId);
    if (sandbox === undefined) return refusal(404, "not_found", "there is no such session");
    if (sandbox.status !== "running") return refusal(410, "sandbox_stopped", "the session has stopped");
    const [, commandId, action] = /^cmd\/([^/]+)(?:\/(\w+))?$/.exec(rest) ?? [];
    if (commandId !== undefined) return runningCommand(sandbox, commandId, action, request);
    switch (rest) {
      case "cmd": {
        const command = start(sandbox, await jsonOf(request), this.path);
        return command === undefined
          ? refusal(400, "bad_request", NO_ROOT)
          : { status: 200, json: { command: describeCommand(sandbox, command) } };
      }
      case "fs/write":
        return unpack(sandbox, request);
      case "fs/read": {
        const path = resolve(sandbox.cwd, (await jsonOf(request)).path);
        return existsSync(path)
          ? { file: createReadStream(path, { fd: openSync(path, "r") }) }
          : refusal(404, "not_found", `there is no ${path}`);
      }
      case "snapshot":
        return this.#keep(sandbox, (await jsonOf(request)).expiration);
      case "extend-timeout":
        return this.#extend(sandbox, (await jsonOf(request)).duration);
      default:
        return refusal(404, "not_found", rest);
    }
  }
}

const jsonOf = async (request: LoopbackRequest) => JSON.parse((await request.body()).toString() || "{}");

const refusal = (status: number, code: string, message: string): Reply => ({
  status,
  json: { error: { code, message } },
});

const describe = ({
  name,
  sessionId,
  request,
  startedAt,
  timeout,
  status,
  persistent,
  snapshotId,
}: LoopbackVercelSandbox) => ({
  ...(snapshotId !== undefined && { currentSnapshotId: snapshotId }),
  ...{
    name,
    persistent,
    region: "iad1",
    currentSessionId: sessionId,
    status,
    timeout,
  },
  ...{ createdAt: startedAt, updatedAt: Date.now(), tags: request.tags, image: request.image },
});

const sessionOf = ({
  sessionId,
  cwd,
  request,
  startedAt,
  timeout,
  status,
  sourceSnapshotId,
}: LoopbackVercelSandbox) => {
  const vcpus = request.resources?.vcpus ?? 2;
  return {
    ...{ id: sessionId, memory: 2048 * vcpus, vcpus, region: "iad1", timeout, status, cwd },
    ...(sourceSnapshotId !== undefined && { sourceSnapshotId }),
    ...{ requestedAt: startedAt, startedAt, createdAt: startedAt, updatedAt: Date.now() },
  };
};

const describeCommand = (
  { cwd, sessionId }: LoopbackVercelSandbox,
  { id, request, startedAt, process }: LoopbackCommand,
) => ({
  ...{ id, name: request.command, args: request.args ?? [], cwd, sessionId, startedAt },
  exitCode: process.exitCode ?? null,
});

const start = (
  sandbox: LoopbackVercelSandbox,
  request: LoopbackCommand["request"],
  path: string | undefined,
): LoopbackCommand | undefined => {
  const plain = [request.command, ...(request.args ?? [])];
  const argv = request.sudo ? asRoot(plain) : plain;
  if (argv === undefined) return undefined;
  const process = new OutlivingProcess(sandbox.machine, argv, path === undefined ? {} : { PATH: path });
  const command = {
    id: `cmd_${randomUUID()}`,
    request,
    startedAt: Date.now(),
    process,
    printed: [] as { stream: string; data: string }[],
  };
  process.listen((output) => output && command.printed.push(asText(output)));
  sandbox.commands.set(command.id, command);
  return command;
};

/** Bytes that are no text, and characters in halves, are lost by that. */
const asText = ({ stream, data }: ProcessOutput) => ({ stream, data: data.toString() });

const runningCommand = async (
  sandbox: LoopbackVercelSandbox,
  commandId: string,
  action: string | undefined,
  request: LoopbackRequest,
): Promise<Reply> => {
  const command = sandbox.commands.get(commandId);
  if (command === undefined) return refusal(404, "not_found", "there is no such command");
  if (action === "logs") return logs(command);
  if (action === "kill") command.process.signal((await jsonOf(request)).signal);
  return { status: 200, json: { command: describeCommand(sandbox, command) } };
};

/** Everything from the beginning, and what comes. */
const logs = ({ process, printed }: LoopbackCommand): Reply => ({
  contentType: "application/x-ndjson",
  stream: (write, end) => {
    const say = (line: unknown) => write(`${JSON.stringify(line)}\n`);
    for (const line of printed) say(line);
    if (process.exitCode !== undefined) {
      end();
      return () => {};
    }
    return process.listen((output) => (output === undefined ? end() : say(asText(output))));
  },
});

const unpack = async (sandbox: LoopbackVercelSandbox, request: LoopbackRequest): Promise<Reply> => {
  const into = String(request.headers["x-cwd"]);
  const entries = tar.extract();
  entries.end(gunzipSync(await request.body()));
  const files: { readonly path: string; readonly mode: number; readonly data: Buffer }[] = [];
  for await (const entry of entries) {
    const { name, mode } = entry.header;
    files.push({ path: resolve(into, name), mode, data: await buffer(entry) });
  }
  const outside = files.find(({ path }) => !path.startsWith(`${sandbox.machine.directory}/`));
  if (outside !== undefined) return refusal(400, "bad_request", `${outside.path} is not in the sandbox`);
  if (sandbox.status !== "running") return refusal(410, "sandbox_stopped", "the session has stopped");
  for (const { path, mode, data } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data, { mode });
  }
  return { status: 200, json: {} };
};

/** Starts a stand-in for Vercel; close it when the tests are over. */
export const startVercelServer = async (): Promise<VercelServer> => {
  const server = new VercelServer();
  await server.loopback.listen();
  return server;
};
