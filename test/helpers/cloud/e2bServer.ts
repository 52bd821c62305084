import { randomBytes } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
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

export interface E2bCreateRequest {
  readonly templateID: string;
  readonly timeout?: number;
  readonly metadata?: Record<string, string>;
  readonly envVars?: Record<string, string>;
  readonly allow_internet_access?: boolean;
  readonly network?: unknown;
}

/** A sandbox, as the stand-in for E2B knows it. */
export interface LoopbackE2bSandbox {
  readonly id: string;
  readonly machine: LoopbackMachine;
  readonly request: E2bCreateRequest;
  readonly processes: Map<number, OutlivingProcess>;
  /** What was to be run in it, as it was told. */
  readonly started: unknown[];
  readonly startedAt: number;
  endsAt: number;
  deadline?: NodeJS.Timeout;
}

const KEY = `e2b_${"0".repeat(40)}`;
const TEMPLATES = ["base", "my-app"];

const frame = (message: unknown, flags = 0): Buffer => {
  const payload = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
};
const END_OF_STREAM = 2;

const messageOf = async (request: LoopbackRequest) => {
  const body = await request.body();
  const isFramed = String(request.headers["content-type"]).startsWith("application/connect+json");
  return JSON.parse(
    isFramed ? body.subarray(5, 5 + body.readUInt32BE(1)).toString() : body.toString() || "{}",
  );
};

/**
 * Speaks E2B's protocols for the SDK as it is published: the control plane, and the daemon of a sandbox. As unkind as that
 * one: ending a stream ends nothing, a signal hits one process, what was printed while nobody was connected is not said
 * again, sandboxes end at their deadline, which cannot be later than the plan allows, whatever was answered, and a sandbox
 * that is gone answers with 502.
 */
export class E2bServer {
  readonly sandboxes = new Map<string, LoopbackE2bSandbox>();
  readonly #forgotten: LoopbackE2bSandbox[] = [];
  /** How long a sandbox may last altogether, whatever it is asked for: what the plan allows. */
  longestMs = Number.POSITIVE_INFINITY;
  /** How long it lasts beyond that: for tests on a machine of which nobody knows how busy it is. */
  graceMs = 0;
  /** Whether lists have only what was asked for. */
  heedsFilters = true;
  readonly #keeper = createKeeper();
  /** The files of snapshots, by their ids. */
  readonly snapshots = new Map<
    string,
    { readonly name: string; readonly files: string; readonly sandboxId: string }
  >();
  /** What sandboxes were asked for. */
  readonly created: E2bCreateRequest[] = [];
  readonly loopback = new Loopback(
    (request) => this.#answer(request),
    (status, message) => ({ code: status, message }),
  );

  /** What the SDK takes from the environment. */
  get env(): Readonly<Record<string, string>> {
    return { E2B_API_URL: this.loopback.url, E2B_SANDBOX_URL: this.loopback.url, E2B_API_KEY: KEY };
  }

  /** The sandbox, where there is only one. */
  get sandbox(): LoopbackE2bSandbox {
    const [sandbox] = this.sandboxes.values();
    if (sandbox === undefined) throw new Error("there is no sandbox");
    return sandbox;
  }

  /** Ends a sandbox as if nobody had asked for it. */
  async lose({ id, machine, deadline }: LoopbackE2bSandbox): Promise<void> {
    clearTimeout(deadline);
    this.sandboxes.delete(id);
    // A process that was just being started may have come in between.
    await machine.destroy().catch(() => machine.destroy());
  }

  /** Says that a sandbox is gone; what runs in it, and who listens to that, is not told. */
  forget(sandbox: LoopbackE2bSandbox): void {
    this.sandboxes.delete(sandbox.id);
    clearTimeout(sandbox.deadline);
    this.#forgotten.push(sandbox);
  }

  async close(): Promise<void> {
    await this.loopback.close();
    await this.#keeper.removeAll();
    await Promise.all([...this.sandboxes.values(), ...this.#forgotten].map((sandbox) => this.lose(sandbox)));
  }

  #answer(request: LoopbackRequest): Promise<Reply> {
    return request.headers["e2b-sandbox-id"] === undefined ? this.#control(request) : this.#daemon(request);
  }

  async #control(request: LoopbackRequest): Promise<Reply> {
    const { method, url } = request;
    if (request.headers["x-api-key"] !== KEY) return refusal(401, "this key is unknown");
    if (url.pathname === "/v2/sandboxes") {
      return method === "POST" ? this.#create(await messageOf(request)) : this.#list(url);
    }
    if (url.pathname === "/snapshots") return this.#listSnapshots(url);
    const [, template] = /^\/templates\/([^/]+)$/.exec(url.pathname) ?? [];
    if (template !== undefined && method === "DELETE")
      return this.#deleteSnapshot(decodeURIComponent(template));
    const [, id = "", action] = /^(?:\/v2)?\/sandboxes\/([^/]+)(?:\/(\w+))?$/.exec(url.pathname) ?? [];
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return refusal(404, `there is no sandbox ${id}`);
    if (method === "DELETE") {
      await this.lose(sandbox);
      return { status: 204 };
    }
    if (action === "snapshots") return this.#keep(sandbox, (await messageOf(request)).name ?? "unnamed");
    if (action === "timeout") {
      if (Date.now() - sandbox.startedAt > this.longestMs)
        return refusal(400, "Max instance length exceeded");
      this.#setDeadline(sandbox, (await messageOf(request)).timeout);
      return { status: 204 };
    }
    return action === undefined ? { status: 200, json: describe(sandbox) } : refusal(404, url.pathname);
  }

  async #create(request: E2bCreateRequest): Promise<Reply> {
    const snapshot = this.snapshots.get(request.templateID);
    if (snapshot === undefined && !TEMPLATES.includes(request.templateID))
      return refusal(404, `there is no template ${request.templateID}`);
    if ((request.timeout ?? 0) * 1000 > this.longestMs)
      return refusal(400, `Timeout cannot be greater than ${this.longestMs / 1000} seconds`);
    const id = `i${randomBytes(9).toString("hex")}`;
    const machine = await createLoopbackMachine(snapshot?.files);
    const sandbox = {
      id,
      machine,
      request,
      processes: new Map(),
      started: [],
      startedAt: Date.now(),
      endsAt: 0,
    };
    this.sandboxes.set(id, sandbox);
    this.created.push(request);
    this.#setDeadline(sandbox, request.timeout ?? 300);
    return { status: 201, json: { ...describe(sandbox), envdAccessToken: `token-of-${id}` } };
  }

  async #keep({ id, machine }: LoopbackE2bSandbox, name: string): Promise<Reply> {
    const snapshotID = `team/${name}:default`;
    this.snapshots.set(snapshotID, { name, files: await this.#keeper.keep(machine), sandboxId: id });
    return { status: 201, json: { snapshotID, names: [snapshotID] } };
  }

  #listSnapshots(url: URL): Reply {
    const name = url.searchParams.get("name");
    const found = [...this.snapshots].filter(([, snapshot]) => name === null || snapshot.name === name);
    return { status: 200, json: found.map(([snapshotID]) => ({ snapshotID, names: [snapshotID] })) };
  }

  async #deleteSnapshot(id: string): Promise<Reply> {
    const snapshot = this.snapshots.get(id);
    if (snapshot === undefined) return refusal(404, `there is no template ${id}`);
    this.snapshots.delete(id);
    await rm(snapshot.files, { recursive: true, force: true });
    return { status: 204 };
  }

  #setDeadline(sandbox: LoopbackE2bSandbox, seconds: number): void {
    clearTimeout(sandbox.deadline);
    sandbox.endsAt = Math.min(Date.now() + seconds * 1000, sandbox.startedAt + this.longestMs);
    const remaining = sandbox.endsAt - Date.now() + this.graceMs;
    sandbox.deadline = setTimeout(() => void this.lose(sandbox), remaining).unref();
  }

  #list(url: URL): Reply {
    // The SDK encodes names and values, and then all of it once more.
    const wanted = [...new URLSearchParams(url.searchParams.get("metadata") ?? "")].map((pair) =>
      pair.map(decodeURIComponent),
    );
    const found = [...this.sandboxes.values()].filter(
      ({ request }) =>
        !this.heedsFilters || wanted.every(([key = "", value]) => request.metadata?.[key] === value),
    );
    const start = Number(url.searchParams.get("nextToken") ?? 0);
    const page = found.slice(start, start + 1);
    const next = start + page.length;
    const json = page.map(describe);
    return next < found.length
      ? { status: 200, json, headers: { "x-next-token": String(next) } }
      : { status: 200, json };
  }

  async #daemon(request: LoopbackRequest): Promise<Reply> {
    const id = String(request.headers["e2b-sandbox-id"]);
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return refusal(502, "The sandbox was not found");
    if (request.headers["x-access-token"] !== `token-of-${id}`) return refusal(401, "unauthenticated");
    if (request.url.pathname === "/health") return { status: 204 };
    if (request.url.pathname === "/files") return files(sandbox, request);
    const message = await messageOf(request);
    const process = sandbox.processes.get(message.process?.pid);
    switch (request.url.pathname) {
      case "/process.Process/Start": {
        sandbox.started.push(message);
        const { cmd, args = [], envs = {} } = message.process;
        const argv = isForRoot(request) ? asRoot([cmd, ...args]) : [cmd, ...args];
        return argv === undefined
          ? refusedStream("permission_denied", NO_ROOT)
          : attached(start(sandbox, argv, envs));
      }
      case "/process.Process/Connect":
        return process === undefined ? refusedStream("not_found", "no such process") : attached(process);
      case "/process.Process/SendSignal":
        if (process === undefined)
          return { status: 404, json: { code: "not_found", message: "no such process" } };
        process.signal(message.signal === "SIGNAL_SIGTERM" ? "SIGTERM" : "SIGKILL");
        return { status: 200, json: {} };
      default:
        return { status: 404, json: { code: "unimplemented", message: request.url.pathname } };
    }
  }
}

const refusal = (code: number, message: string): Reply => ({ status: code, json: { code, message } });

const describe = ({ id, request, startedAt, endsAt }: LoopbackE2bSandbox) => ({
  sandboxID: id,
  templateID: request.templateID,
  clientID: "loopback",
  metadata: request.metadata ?? {},
  startedAt: new Date(startedAt).toISOString(),
  endAt: new Date(endsAt).toISOString(),
  state: "running",
  cpuCount: 2,
  memoryMB: 512,
  diskSizeMB: 1024,
  envdVersion: "0.6.4",
});

/** The SDK says as whom a command is to be run where others have a login. */
const isForRoot = ({ headers }: LoopbackRequest): boolean =>
  headers.authorization === `Basic ${Buffer.from("root:").toString("base64")}`;

const start = (
  { machine, processes }: LoopbackE2bSandbox,
  argv: readonly string[],
  envs: Record<string, string>,
): OutlivingProcess => {
  const process = new OutlivingProcess(machine, argv, envs, () => processes.delete(process.pid));
  processes.set(process.pid, process);
  return process;
};

const attached = (process: OutlivingProcess): Reply => ({
  contentType: "application/connect+json",
  stream: (write, end) => {
    const say = (event: unknown) => write(frame({ event }));
    say({ start: { pid: process.pid } });
    const tell = (output: ProcessOutput | undefined) => {
      if (output !== undefined) return say({ data: { [output.stream]: output.data.toString("base64") } });
      const exitCode = process.wasKilled ? -1 : process.exitCode;
      say({ end: { exitCode, exited: !process.wasKilled, status: `exit status ${exitCode}` } });
      write(frame({}, END_OF_STREAM));
      end();
    };
    return process.listen(tell);
  },
});

const refusedStream = (code: string, message: string): Reply => ({
  contentType: "application/connect+json",
  stream: (write, end) => {
    write(frame({ error: { code, message } }, END_OF_STREAM));
    end();
    return () => {};
  },
});

const files = async ({ machine }: LoopbackE2bSandbox, request: LoopbackRequest): Promise<Reply> => {
  const named = request.url.searchParams.get("path");
  if (request.method === "GET") {
    const path = resolve(machine.home, named ?? "");
    // Opened at once: a command may delete it at any moment.
    return existsSync(path)
      ? { file: createReadStream(path, { fd: openSync(path, "r") }) }
      : refusal(404, `there is no ${path}`);
  }
  const body = await request.body();
  const type = String(request.headers["content-type"]);
  const written: { name: string; path: string; type: string }[] = [];
  const write = (name: string, data: Buffer) => {
    const path = resolve(machine.home, name);
    if (!path.startsWith(`${machine.directory}/`)) throw new Error(`${path} is not in the sandbox`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data);
    written.push({ name, path, type: "file" });
  };
  if (type.startsWith("multipart/")) {
    const form = await new Response(body as Uint8Array<ArrayBuffer>, {
      headers: { "content-type": type },
    }).formData();
    for (const value of form.values()) {
      if (typeof value === "string") continue;
      const data = Buffer.from(await value.arrayBuffer());
      if (!existsSync(machine.directory)) return refusal(502, "The sandbox was not found");
      write(named ?? value.name, data);
    }
  } else {
    const isZipped = request.headers["content-encoding"] === "gzip";
    write(named ?? "", isZipped ? gunzipSync(body) : body);
  }
  return { status: 200, json: written };
};

/** Starts a stand-in for E2B; close it when the tests are over. */
export const startE2bServer = async (): Promise<E2bServer> => {
  const server = new E2bServer();
  await server.loopback.listen();
  return server;
};
