import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { McpServers } from "../../../src/agents/contract.ts";
import mcpExtension, { type Pi } from "../../../src/agents/pi/programs/mcpExtension.ts";
import extensionText from "../../../src/agents/pi/programs/mcpExtension.ts?text";
import { waitFor } from "../../helpers/processes/waiting.ts";

const SERVER = join(import.meta.dirname, "../fixtures/mcpServer.mjs");

let directory = "";
let files = 0;
const newFile = () => join(directory, `file-${++files}`);

type Tool = Parameters<Pi["registerTool"]>[0];
type Execute = Parameters<Tool["execute"]>;

/** Stands for pi: it loads the extension and keeps what the extension registers. */
const load = async (servers: McpServers, extension = mcpExtension) => {
  const file = newFile();
  writeFileSync(file, JSON.stringify(servers));
  const tools = new Map<string, Tool>();
  const handlers = new Map<string, () => Promise<void>>();
  extension({
    on: (event, handler) => void handlers.set(event, handler),
    registerTool: (tool) => void tools.set(tool.name, tool),
  });
  vi.stubEnv("SANDDUNE_MCP_FILE", file);
  const complaining = vi.spyOn(console, "error").mockImplementation(() => {});
  await handlers.get("session_start")?.();
  const complaints: unknown[] = complaining.mock.calls.flat();
  complaining.mockRestore();
  vi.unstubAllEnvs();
  return {
    tools,
    shutdown: async () => handlers.get("session_shutdown")?.(),
    complaints,
    call: (name: string, input: object = {}, signal?: Execute[2], onUpdate?: Execute[3]) => {
      const tool = tools.get(name);
      if (tool === undefined) throw new Error(`There is no tool ${name}: ${[...tools.keys()].join(", ")}`);
      return tool.execute("call-1", input, signal, onUpdate);
    },
  };
};

type Loaded = Awaited<ReturnType<typeof load>>;

/** The same, until the test is over. */
const loadForTest = async (servers: McpServers): Promise<Loaded> => {
  const loaded = await load(servers);
  onTestFinished(() => loaded.shutdown());
  return loaded;
};

const notesIn = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

const program = (notes = newFile(), ...flags: string[]) => ({
  tools: {
    command: process.execPath,
    args: [SERVER, ...flags],
    env: { GREETER: "Ada", NOTES: notes },
  },
});

const stop = async (server: ChildProcess) => {
  server.kill();
  if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
};

/** Starts a server, and says where it is. */
const startServer = async (notes = newFile()) => {
  const child = spawn(process.execPath, [SERVER, "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NOTES: notes },
  });
  const [port] = await once(child.stdout, "data");
  return { child, url: `http://127.0.0.1:${Number(String(port))}` };
};

const address = (url: string): McpServers => ({
  tools: { url: `${url}/mcp`, headers: { "X-Greeter": "Ada" } },
});

/** A server at an address, for all tests that leave it running. */
let lasting: Awaited<ReturnType<typeof startServer>>;
const lastingNotes = () => join(directory, "notes");

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sanddune-pi-"));
  lasting = await startServer(lastingNotes());
});
afterAll(async () => {
  await stop(lasting.child);
  rmSync(directory, { recursive: true, force: true });
});

/** A server that nobody else uses, and one that others may use, too: each with the file of its notes. */
interface Kind {
  own(notes?: string): McpServers | Promise<McpServers>;
  shared(): { readonly servers: McpServers; readonly notes: string };
}

const KINDS: readonly [string, Kind][] = [
  [
    "a program",
    {
      own: program,
      shared: () => {
        const notes = newFile();
        return { servers: program(notes), notes };
      },
    },
  ],
  [
    "an address",
    {
      own: async (notes) => {
        const { child, url } = await startServer(notes);
        onTestFinished(() => stop(child));
        return address(url);
      },
      shared: () => ({ servers: address(lasting.url), notes: lastingNotes() }),
    },
  ],
];

describe.each(KINDS)("an MCP server for pi that is %s", (_, kind) => {
  let loaded: Loaded;
  let notes = "";
  beforeAll(async () => {
    const { servers, ...shared } = kind.shared();
    notes = shared.notes;
    loaded = await load(servers);
  });
  afterAll(() => loaded.shutdown());

  it("has all pages of its tools registered, by names that models accept", async () => {
    const { tools, complaints } = loaded;
    expect(complaints).toEqual([]);
    expect([...tools.keys()]).toEqual([
      ...["tools_echo", "tools_fail", "tools_refuse", "tools_long", "tools_mixed", "tools_structured"],
      ...["tools_nothing", "tools_ask", "tools_wait", "tools_crash"],
      ...["tools_dotted_name_with_spaces", "tools_dotted_name_with_spaces_2"],
      `tools_${"long_".repeat(20)}`.slice(0, 64),
    ]);
    expect(tools.get("tools_echo")).toMatchObject({
      label: "Echo",
      description: "Says it again.",
      parameters: { type: "object", properties: { words: { type: "string" } }, required: ["words"] },
    });
  });

  it("answers, and has its settings", async () => {
    const { call } = loaded;
    const words = "two\nlines \u2028 🏜";
    const calls = [1, 2, 3].map((each) => call("tools_echo", { words: `${words}${each}` }));
    expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(
      [1, 2, 3].map((each) => [{ type: "text", text: `Ada: ${words}${each}` }]),
    );
  });

  it("has errors, which pi reports", async () => {
    const { call } = loaded;
    await expect(call("tools_fail")).rejects.toThrow("The disk\nis full");
    await expect(call("tools_refuse")).rejects.toThrow("No such customer");
  });

  it("has everything described that is neither text nor an image", async () => {
    const { call } = loaded;
    expect((await call("tools_mixed")).content).toEqual([
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "text", text: "[audio]" },
      { type: "text", text: "words of a" },
      { type: "text", text: "[resource file:///b]" },
      { type: "text", text: "[resource file:///c]" },
    ]);
    expect((await call("tools_structured")).content).toEqual([{ type: "text", text: '{"passed":3}' }]);
    expect((await call("tools_nothing")).content).toEqual([{ type: "text", text: "[no output]" }]);
  });

  it("cannot fill the model's context", async () => {
    const { content } = await loaded.call("tools_long");
    expect(content).toEqual([
      { type: "text", text: "a".repeat(99_990) },
      { type: "text", text: `${"b".repeat(10)}\n[40 more characters were left out]` },
      { type: "text", text: "\n[1 more characters were left out]" },
    ]);
  });

  it("gets answers to its own requests", async () => {
    const { call } = loaded;
    expect((await call("tools_ask")).content).toMatchObject([
      { text: expect.stringMatching(/^answered, and: .*(not found|not support)/) },
    ]);
  });

  it("reports progress, and is notified of a cancelled call", async () => {
    const { call } = loaded;
    const before = notesIn(notes);
    const controller = new AbortController();
    const told: string[] = [];
    const calling = call("tools_wait", {}, controller.signal, ({ content }) => {
      told.push(...content.map((block) => (block.type === "text" ? block.text : "")));
    });
    await Promise.race([calling, waitFor(() => told.length === 2)]);
    expect(told).toEqual(["halfway", "2 of 2"]);
    controller.abort();
    await expect(calling).rejects.toThrow("cancelled");
    await waitFor(() => notesIn(notes).slice(before.length).startsWith("cancelled: "));
    await expect(call("tools_wait", {}, controller.signal)).rejects.toThrow();
    expect((await call("tools_echo", { words: "still here" })).content).toMatchObject([
      { text: "Ada: still here" },
    ]);
  });

  it("that ends fails its own calls, and no others", async () => {
    const { call } = await loadForTest({
      ...(await kind.own()),
      other: address(lasting.url)["tools"] as McpServers[string],
    });
    await expect(call("tools_crash")).rejects.toThrow(
      /exit code 3: .*out of memory|the connection has broken/s,
    );
    await expect(call("tools_echo", { words: "x" })).rejects.toThrow(/exit code 3|ECONNREFUSED|has broken/);
    expect((await call("other_echo", { words: "x" })).content).toMatchObject([{ text: "Ada: x" }]);
  });

  it("is notified when pi ends, and is not waited for", async () => {
    const shared = kind.shared();
    const before = notesIn(shared.notes);
    const { call, shutdown } = await loadForTest(shared.servers);
    let hasBegun = false;
    const waiting = call("tools_wait", {}, undefined, () => {
      hasBegun = true;
    });
    const failed = expect(waiting).rejects.toThrow("cancelled");
    await waitFor(() => hasBegun);
    await shutdown();
    await failed;
    await waitFor(() =>
      /cancelled: .*(input ended|session closed)/s.test(notesIn(shared.notes).slice(before.length)),
    );
    await shutdown();
  });
});

describe("the extension as it is written to a sandbox", () => {
  it("is one file that needs nothing but Node.js", async () => {
    const file = join(directory, "extension.mjs");
    writeFileSync(file, extensionText);
    const { default: extension } = await import(pathToFileURL(file).href);
    const { call, shutdown } = await load(program(), extension);
    onTestFinished(() => shutdown());
    expect((await call("tools_echo", { words: "x" })).content).toEqual([{ type: "text", text: "Ada: x" }]);
  });
});

describe("MCP servers for pi that cannot be used", () => {
  it("are reported with their names and the reason, and the others are used", async () => {
    const { url } = lasting;
    const { tools, complaints } = await loadForTest({
      missing: { command: "/no/such/program" },
      ended: { command: "sh", args: ["-c", "echo 'no key' >&2; exit 7"] },
      absent: { url: "http://127.0.0.1:1/mcp" },
      locked: { url: `${url}/locked` },
      silent: { url: `${url}/silent` },
      ...address(url),
    });
    const said = (name: string, reason: string) =>
      expect.stringMatching(new RegExp(`^sanddune: the MCP server ${name} cannot be used: ${reason}`));
    expect(complaints.toSorted()).toEqual([
      said("absent", ".*ECONNREFUSED"),
      said("ended", ".*exit code 7: no key"),
      said("locked", ".*HTTP 401: who are you\\?$"),
      said("missing", ".*ENOENT"),
      said("silent", ".*it has not answered$"),
    ]);
    expect(tools.has("tools_echo")).toBe(true);
    expect([...tools.keys()].filter((name) => !name.startsWith("tools_"))).toEqual([]);
  });
});

describe("a program that is an MCP server for pi", () => {
  it("is killed if it does not end with pi", async () => {
    const notes = newFile();
    const { shutdown, call } = await loadForTest(program(notes, "--stubborn"));
    await shutdown();
    await expect(call("tools_echo", { words: "x" })).rejects.toThrow();
    expect(() => process.kill(Number.parseInt(notesIn(notes), 10), 0)).toThrow("ESRCH");
  });

  it("may print lines that are not messages", async () => {
    const line = `echo Welcome; echo '[]'; echo null; exec '${process.execPath}' '${SERVER}'`;
    const { call } = await loadForTest({
      tools: { command: "sh", args: ["-c", line], env: program().tools.env },
    });
    expect((await call("tools_echo", { words: "x" })).content).toMatchObject([{ text: "Ada: x" }]);
  });
});

describe("an address that is an MCP server for pi", () => {
  it("may forget the session: another is started", async () => {
    const { call } = await loadForTest(address(lasting.url));
    await fetch(`${lasting.url}/forget`);
    expect((await call("tools_echo", { words: "x" })).content).toMatchObject([{ text: "Ada: x" }]);
  });

  it("may have moved within its origin", async () => {
    const { tools, complaints } = await loadForTest({ tools: { url: `${lasting.url}/moved` } });
    expect(complaints).toEqual([]);
    expect(tools.has("tools_echo")).toBe(true);
  });

  it("may not send its headers elsewhere", async () => {
    const heard: string[] = [];
    const thief = createServer((request, response) => {
      heard.push(JSON.stringify(request.headers));
      response.end();
    });
    await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void thief.close());
    const elsewhere = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/`;
    const url = `${lasting.url}/away/${encodeURIComponent(elsewhere)}`;
    const { complaints } = await loadForTest({ tools: { url, headers: { authorization: "Bearer abc" } } });
    expect(complaints).toEqual([expect.stringContaining("HTTP 307")]);
    expect(heard).toEqual([]);
  });
});
