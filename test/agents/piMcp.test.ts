import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { McpServers } from "../../src/agents/contract.ts";
import { PI_MCP_EXTENSION } from "../../src/agents/piMcp.ts";
import { temporaryDirectory } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";

const SERVER = join(import.meta.dirname, "fixtures/mcpServer.mjs");

type Update = (update: { readonly content: readonly { readonly text: string }[] }) => void;

interface Tool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  execute(id: string, input: object, signal?: AbortSignal, onUpdate?: Update): Promise<{ content: object[] }>;
}

/** Stands for pi: it loads the extension, and has what that registers. */
const load = async (servers: McpServers) => {
  const directory = temporaryDirectory();
  const extension = join(directory, "extension.mjs");
  writeFileSync(extension, PI_MCP_EXTENSION);
  writeFileSync(join(directory, "servers.json"), JSON.stringify(servers));
  vi.stubEnv("SANDDUNE_MCP_FILE", join(directory, "servers.json"));
  const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
  const tools = new Map<string, Tool>();
  const handlers = new Map<string, () => Promise<void>>();
  const { default: begin } = await import(pathToFileURL(extension).href);
  begin({
    on: (event: string, handler: () => Promise<void>) => handlers.set(event, handler),
    registerTool: (tool: Tool) => tools.set(tool.name, tool),
  });
  const shutdown = async () => handlers.get("session_shutdown")?.();
  onTestFinished(async () => {
    await shutdown();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  await handlers.get("session_start")?.();
  return {
    tools,
    shutdown,
    complaints: complaints.mock.calls.flat(),
    call: (name: string, input: object = {}, signal?: AbortSignal, onUpdate?: Update) => {
      const tool = tools.get(name);
      if (tool === undefined) throw new Error(`There is no tool ${name}: ${[...tools.keys()].join(", ")}`);
      return tool.execute("call-1", input, signal, onUpdate);
    },
  };
};

const notesFile = () => join(temporaryDirectory(), "notes");
const notesIn = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

const program = (notes = notesFile(), ...flags: string[]) => ({
  tools: {
    command: process.execPath,
    args: [SERVER, ...flags],
    env: { GREETER: "Ada", NOTES: notes },
  },
});

/** Where a server is that lasts as long as the test. */
const startServer = async (notes = notesFile(), env: Record<string, string> = {}): Promise<string> => {
  const server = spawn(process.execPath, [SERVER, "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NOTES: notes, ...env },
  });
  onTestFinished(async () => {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  });
  const [port] = await once(server.stdout, "data");
  return `http://127.0.0.1:${Number(String(port))}`;
};

const address = async (notes?: string): Promise<McpServers> => ({
  tools: { url: `${await startServer(notes)}/mcp`, headers: { "X-Greeter": "Ada" } },
});

const KINDS: readonly [string, (notes?: string) => McpServers | Promise<McpServers>][] = [
  ["a program", program],
  ["an address", address],
];

describe.each(KINDS)("a server of tools for pi that is %s", (_, serverOf) => {
  it("has its tools registered, all pages of them, by names that models accept", async () => {
    const { tools, complaints } = await load(await serverOf());
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

  it("answers, and has been given its settings", async () => {
    const { call } = await load(await serverOf());
    const words = "two\nlines \u2028 🏜";
    const calls = [1, 2, 3].map((each) => call("tools_echo", { words: `${words}${each}` }));
    expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(
      [1, 2, 3].map((each) => [{ type: "text", text: `Ada: ${words}${each}` }]),
    );
  });

  it("has errors, which are pi's to tell", async () => {
    const { call } = await load(await serverOf());
    await expect(call("tools_fail")).rejects.toThrow("The disk\nis full");
    await expect(call("tools_refuse")).rejects.toThrow("No such customer");
  });

  it("has all that is not text described, but for images", async () => {
    const { call } = await load(await serverOf());
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
    const { content } = await (await load(await serverOf())).call("tools_long");
    expect(content).toEqual([
      { type: "text", text: "a".repeat(99_990) },
      { type: "text", text: `${"b".repeat(10)}\n[40 more characters were left out]` },
      { type: "text", text: "\n[1 more characters were left out]" },
    ]);
  });

  it("is answered when it asks", async () => {
    const { call } = await load(await serverOf());
    expect((await call("tools_ask")).content).toMatchObject([
      { text: expect.stringMatching(/^answered, and: .*(not found|not support)/) },
    ]);
  });

  it("tells how far it is, and hears that nobody waits any longer", async () => {
    const notes = notesFile();
    const { call } = await load(await serverOf(notes));
    const controller = new AbortController();
    const told: string[] = [];
    const calling = call("tools_wait", {}, controller.signal, ({ content }) => {
      told.push(...content.map(({ text }) => text));
    });
    await Promise.race([calling, waitFor(() => told.length === 2)]);
    expect(told).toEqual(["halfway", "2 of 2"]);
    controller.abort();
    await expect(calling).rejects.toThrow("cancelled");
    await waitFor(() => notesIn(notes).startsWith("cancelled: "));
    await expect(call("tools_wait", {}, controller.signal)).rejects.toThrow();
    expect((await call("tools_echo", { words: "still here" })).content).toMatchObject([
      { text: "Ada: still here" },
    ]);
  });

  it("that ends fails whoever waits for it, and nobody else", async () => {
    const own = { other: program().tools };
    const { call } = await load({ ...(await serverOf()), ...own });
    await expect(call("tools_crash")).rejects.toThrow(
      /exit code 3: .*out of memory|the connection has broken/s,
    );
    await expect(call("tools_echo", { words: "x" })).rejects.toThrow(/exit code 3|ECONNREFUSED|has broken/);
    expect((await call("other_echo", { words: "x" })).content).toMatchObject([{ text: "Ada: x" }]);
  });

  it("hears that pi ends, and is not waited for", async () => {
    const notes = notesFile();
    const { call, shutdown } = await load(await serverOf(notes));
    let hasBegun = false;
    const waiting = call("tools_wait", {}, undefined, () => {
      hasBegun = true;
    });
    const failed = expect(waiting).rejects.toThrow("cancelled");
    await waitFor(() => hasBegun);
    await shutdown();
    await failed;
    await waitFor(() => /cancelled: .*(input ended|session closed)/s.test(notesIn(notes)));
    await shutdown();
  });
});

describe("a server of tools for pi that cannot be used", () => {
  const complaintOf = async (server: McpServers[string]) => {
    const { tools, complaints } = await load({ broken: server, ...program() });
    expect(tools.has("tools_echo")).toBe(true);
    expect([...tools.keys()].filter((name) => name.startsWith("broken"))).toEqual([]);
    return complaints;
  };

  it.each<[string, McpServers[string], RegExp]>([
    ["is not installed", { command: "/no/such/program" }, /ENOENT/],
    ["ends at once", { command: "sh", args: ["-c", "echo 'no key' >&2; exit 7"] }, /exit code 7: no key/],
    ["is not there", { url: "http://127.0.0.1:1/mcp" }, /ECONNREFUSED/],
  ])("because it %s is told of by its name, and the others are used", async (_, server, reason) => {
    const complaints = await complaintOf(server);
    expect(complaints).toEqual([expect.stringMatching(reason)]);
    expect(complaints[0]).toMatch(/^sanddune: the MCP server broken cannot be used: /);
  });

  it.each([
    ["/locked", /HTTP 401: who are you\?$/],
    ["/silent", /it has not answered$/],
  ])("because of what it answers at %s is told of with that", async (path, reason) => {
    expect(await complaintOf({ url: `${await startServer()}${path}` })).toEqual([
      expect.stringMatching(reason),
    ]);
  });
});

describe("a program that is a server of tools for pi", () => {
  it("is killed if it does not end with pi", async () => {
    const notes = notesFile();
    const { shutdown, call } = await load(program(notes, "--stubborn"));
    await shutdown();
    await expect(call("tools_echo", { words: "x" })).rejects.toThrow();
    expect(() => process.kill(Number.parseInt(notesIn(notes), 10), 0)).toThrow("ESRCH");
  });

  it("may print what is no message", async () => {
    const line = `echo Welcome; echo '[]'; echo null; exec '${process.execPath}' '${SERVER}'`;
    const { call } = await load({ tools: { command: "sh", args: ["-c", line], env: program().tools.env } });
    expect((await call("tools_echo", { words: "x" })).content).toMatchObject([{ text: "Ada: x" }]);
  });
});

describe("an address that is a server of tools for pi", () => {
  it("may forget the session: another is begun", async () => {
    const url = await startServer();
    const { call } = await load({ tools: { url: `${url}/mcp`, headers: { "x-greeter": "Ada" } } });
    await fetch(`${url}/forget`);
    expect((await call("tools_echo", { words: "x" })).content).toMatchObject([{ text: "Ada: x" }]);
  });

  it("may have moved within its origin", async () => {
    const { tools, complaints } = await load({ tools: { url: `${await startServer()}/moved` } });
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
    const url = `${await startServer(undefined, { ELSEWHERE: elsewhere })}/away`;
    const { complaints } = await load({ tools: { url, headers: { authorization: "Bearer abc" } } });
    expect(complaints).toEqual([expect.stringContaining("HTTP 307")]);
    expect(heard).toEqual([]);
  });
});
