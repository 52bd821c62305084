import { describe, expect, it, onTestFinished } from "vitest";
import type { Script } from "../helpers/modelServer/script.ts";
import { type ModelServer, startModelServer } from "../helpers/modelServer/server.ts";
import { waitFor } from "../helpers/processes/waiting.ts";

const started = async (...args: Parameters<typeof startModelServer>): Promise<ModelServer> => {
  const server = await startModelServer(...args);
  onTestFinished(() => server.close());
  return server;
};

const post = (url: string, body: object, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { method: "POST", body: JSON.stringify(body), ...init });

/** The data of the events in a stream, those that are JSON. */
const eventsIn = (stream: string): unknown[] =>
  stream
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));

const COMMAND = { type: "object", properties: { command: { type: "string" } }, required: ["command", "why"] };
const GEMINI = "/v1beta/models/gemini-2.5-pro";

/** How an agent asks in each dialect, and where in the answer and in the error it finds what it needs. */
const DIALECTS = [
  {
    dialect: "anthropic",
    path: "/v1/messages",
    streamPath: "/v1/messages",
    tools: [{ name: "Bash", input_schema: COMMAND }],
    answer: {
      content: [
        { type: "thinking", thinking: "Hm" },
        { type: "text", text: "Hi" },
        { type: "tool_use", name: "Bash", input: { command: "ls", why: "scripted" } },
      ],
      stop_reason: "tool_use",
      usage: {
        input_tokens: 1,
        output_tokens: 2,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 4,
      },
    },
    lastEvent: { type: "message_stop" },
    error: { type: "error", error: { type: "rate_limit_error", message: "Slow down" } },
  },
  {
    dialect: "responses",
    path: "/v1/responses",
    streamPath: "/v1/responses",
    tools: [{ type: "function", name: "exec_command", parameters: COMMAND }],
    answer: {
      output: [
        { type: "reasoning", summary: [{ text: "Hm" }] },
        { type: "message", content: [{ text: "Hi" }] },
        { type: "function_call", name: "exec_command", arguments: '{"command":"ls","why":"scripted"}' },
      ],
      usage: { input_tokens: 4, output_tokens: 2, input_tokens_details: { cached_tokens: 3 } },
    },
    lastEvent: { type: "response.completed", response: { output: [{}, {}, {}] } },
    error: { error: { code: "rate_limit_exceeded", message: "Slow down" } },
  },
  {
    dialect: "chat",
    path: "/v1/chat/completions",
    streamPath: "/v1/chat/completions",
    tools: [{ type: "function", function: { name: "bash", parameters: COMMAND } }],
    answer: {
      choices: [
        {
          message: {
            content: "Hi",
            tool_calls: [{ function: { name: "bash", arguments: '{"command":"ls","why":"scripted"}' } }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 4, completion_tokens: 2 },
    },
    lastEvent: { usage: { prompt_tokens: 4, completion_tokens: 2 } },
    error: { error: { code: "rate_limit_exceeded", message: "Slow down" } },
  },
  {
    dialect: "gemini",
    path: `${GEMINI}:generateContent`,
    streamPath: `${GEMINI}:streamGenerateContent?alt=sse`,
    tools: [{ functionDeclarations: [{ name: "run_shell_command", parametersJsonSchema: COMMAND }] }],
    answer: {
      candidates: [
        {
          content: {
            parts: [
              { text: "Hm", thought: true },
              { text: "Hi" },
              { functionCall: { name: "run_shell_command", args: { command: "ls", why: "scripted" } } },
            ],
          },
        },
      ],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2 },
    },
    lastEvent: { usageMetadata: { promptTokenCount: 4 } },
    error: { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Slow down" } },
  },
];

const SCRIPT: Script = [
  {
    thinking: "Hm",
    text: "Hi",
    calls: [{ shell: "ls" }],
    usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
  },
];

describe.each(DIALECTS)("the scripted model in the dialect $dialect", (dialect) => {
  const { path, streamPath, tools } = dialect;
  const streamed = async (url: string): Promise<string> =>
    (await post(url + streamPath, { model: "m", stream: true, tools })).text();

  it("answers with text, reasoning, usage and a call of the agent's own shell", async () => {
    const { url, requests } = await started(SCRIPT);
    expect(await (await post(url + path, { model: "m", tools })).json()).toMatchObject(dialect.answer);
    expect(requests).toMatchObject([
      { script: "default", kind: "turn", dialect: dialect.dialect, model: "m" },
    ]);
  });

  it("streams the same", async () => {
    const { url } = await started(SCRIPT);
    const stream = await streamed(url);
    expect(eventsIn(stream).at(-1)).toMatchObject(dialect.lastEvent);
    for (const part of ["Hm", "Hi", "ls"]) expect(stream).toContain(part);
  });

  it("fails in the way of the dialect", async () => {
    const { url } = await started([{ error: 429, message: "Slow down", retryAfter: 7 }]);
    const response = await post(url + path, { tools });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await response.json()).toMatchObject(dialect.error);
  });

  it("breaks off in the middle of a text", async () => {
    const text = "a".repeat(24) + "b".repeat(24);
    const { url } = await started([{ text, cut: true }, { text }]);
    await expect(streamed(url)).rejects.toThrow();
    expect(await streamed(url)).toContain("bbb");
  });

  it("answers requests without tools beside the script, unless they count", async () => {
    const { url, scriptUrl, requests } = await started([{ text: "turn" }], {
      scripts: { counting: { turns: [{ text: "turn" }], sideRequests: "count" } },
    });
    expect(await (await post(url + path, {})).text()).toContain("side answer");
    expect(await (await post(scriptUrl("counting") + path, {})).text()).not.toContain("side answer");
    expect(requests.map(({ kind }) => kind)).toEqual(["side", "turn"]);
  });
});

describe("the scripted model", () => {
  const tools = [
    { name: "Bash", input_schema: COMMAND },
    { name: "Write", input_schema: { properties: { file_path: {}, content: {} } } },
  ];
  const ask = (url: string, init?: RequestInit): Promise<Response> =>
    post(`${url}/v1/messages`, { tools }, init);

  it("plays the turns in their order, some several times, and repeats the last", async () => {
    const { url } = await started([{ error: 500, times: 2 }, { text: "one" }, { text: "two" }]);
    const statuses: number[] = [];
    for (let request = 0; request < 3; request++) statuses.push((await ask(url)).status);
    expect(statuses).toEqual([500, 500, 200]);
    expect(await (await ask(url)).text()).toContain("two");
    expect(await (await ask(url)).text()).toContain("two");
  });

  it("plays another script on request", async () => {
    const { url, scriptUrl, play } = await started([{ text: "first" }]);
    expect((await ask(scriptUrl("late"))).status).toBe(404);
    play("late", [{ text: "late" }]);
    play("default", [{ text: "second" }]);
    expect(await (await ask(scriptUrl("late"))).text()).toContain("late");
    expect(await (await ask(url)).text()).toContain("second");
  });

  it("fails with exactly the headers and the body that the script says", async () => {
    const body = { type: "error", error: { type: "usage_limit_reached", resets_at: 1 } };
    const { url, requests } = await started([{ error: 429, headers: { "x-limit": "spent" }, body }]);
    const response = await ask(url, { headers: { "x-api-key": "fake" } });
    expect(response.headers.get("x-limit")).toBe("spent");
    expect(await response.json()).toEqual(body);
    expect(requests).toMatchObject([{ headers: { "x-api-key": "fake" }, body: { tools } }]);
  });

  it("writes files with the agent's tool for it, with its shell where there is none, and calls any tool by its name", async () => {
    const write = { write: { path: "a.txt", content: "A" } };
    const { url } = await started([{ calls: [write, { name: "Read", input: { file: 1 } }] }]);
    expect(await (await ask(url)).json()).toMatchObject({
      content: [
        { name: "Write", input: { file_path: "a.txt", content: "A" } },
        { name: "Read", input: { file: 1 } },
      ],
    });
    const shellOnly = await post(`${url}/v1/messages`, { tools: tools.slice(0, 1) });
    expect(await shellOnly.text()).toContain("cat > 'a.txt'");
  });

  it("says so when the agent has no tool for a call", async () => {
    const { url } = await started([{ calls: [{ shell: "ls" }] }]);
    const response = await post(`${url}/v1/messages`, { tools: [{ name: "Read" }] });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("no shell among the tools: Read");
  });

  it("calls tools in a namespace, and those that come with the input and run JavaScript", async () => {
    const { url } = await started([{ calls: [{ shell: "ls" }] }]);
    const grouped = { type: "namespace", name: "unix", tools: [{ name: "shell", parameters: COMMAND }] };
    expect(await (await post(`${url}/responses`, { tools: [grouped] })).json()).toMatchObject({
      output: [{ type: "function_call", name: "shell", namespace: "unix" }],
    });
    const late = { type: "additional_tools", tools: [{ type: "custom", name: "exec" }] };
    expect(await (await post(`${url}/responses`, { input: [late] })).json()).toMatchObject({
      output: [{ type: "custom_tool_call", name: "exec", input: expect.stringContaining('{"cmd":"ls"}') }],
    });
  });

  it("never answers a turn that hangs, and ends it when it closes", async () => {
    const server = await started([{ hang: true }]);
    const answer = ask(server.url).then(
      () => "answered",
      () => "broken off",
    );
    await waitFor(() => server.requests.length === 1);
    await server.close();
    expect(await answer).toBe("broken off");
  });

  it("answers questions about the model", async () => {
    const { url, requests } = await started();
    expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ data: [{ object: "model" }] });
    expect(await (await post(`${url}/v1/messages/count_tokens`, {})).json()).toMatchObject({
      input_tokens: 10,
    });
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
    expect(requests.map(({ kind }) => kind)).toEqual(["models", "count", "unknown"]);
  });
});
