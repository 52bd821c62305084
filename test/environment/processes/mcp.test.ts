import { ProgressNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { definitionFile, hanging } from "../../cli/environment/environmentFolders.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { useTool } from "../builtTool.ts";
import { useServer } from "../serving.ts";
import { connectMcp, textOf, useMcp } from "./mcpClient.ts";
import { serveEnvironment } from "./mcpServing.ts";

useTool();

const SIMPLE = `{
  concurrency: 1,
  tests: {
    "math/adds": () => assert.equal(1 + 1, 2),
    "math/divides": { description: "Divides by two.", run: () => assert.equal(4 / 2, 3) },
    "text/greets": {
      parameters: { name: { type: "string", default: "you" }, loud: { type: "boolean", default: false } },
      run: ({ parameters: { name, loud } }) => assert.equal(loud ? name.toUpperCase() : name, "ADA"),
    },
  },
}`;

describe("The tools of an agent", () => {
  const server = useServer(definitionFile(SIMPLE));
  const mcp = useMcp(() => server().url);

  it("list the tests, with their descriptions and parameters", async () => {
    const { client, call } = mcp();
    expect(client.getServerVersion()).toMatchObject({ name: "sanddune" });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["list_tests", "run_tests"]);
    const result = await call("list_tests");
    expect(result.structuredContent).toEqual({
      tests: [
        { path: "math/adds" },
        { path: "math/divides", description: "Divides by two." },
        {
          path: "text/greets",
          parameters: { name: { type: "string", default: "you" }, loud: { type: "boolean", default: false } },
        },
      ],
    });
    expect(textOf(result)).toBe(
      [
        "There are 3 tests:",
        "- math/adds",
        "- math/divides: Divides by two.",
        '- text/greets: Parameters: name (string, default "you"), loud (boolean, default false).',
      ].join("\n"),
    );
  });

  it("run one test, those below a path, or all; a failure is no error, and says why", async () => {
    const { call } = mcp();
    const one = await call("run_tests", { test_path: "math/adds" });
    expect(one).toMatchObject({ structuredContent: { path: "math/adds", passed: 1, total: 1, error: null } });
    expect(textOf(one)).toBe("1 of 1 test passed.");
    const some = await call("run_tests", { test_path: "math" });
    expect(some.isError).toBeFalsy();
    expect(some.structuredContent).toMatchObject({
      passed: 1,
      failed: 1,
      tests: [
        { path: "math/divides", passed: false, message: expect.stringContaining("2 !== 3") },
        { path: "math/adds", passed: true },
      ],
    });
    expect(textOf(some)).toMatch(/^1 of 2 tests passed\.\n- math\/divides: [\s\S]*2 !== 3/);
    expect((await call("run_tests")).structuredContent).toMatchObject({ path: "", total: 3, failed: 2 });
    const parameters = { name: "ada", loud: true };
    expect(await call("run_tests", { test_path: "text", parameters })).toMatchObject({
      structuredContent: { passed: 1, failed: 0 },
    });
  });

  it("say which paths there are when there is none like it", async () => {
    const { call } = mcp();
    const paths = [
      "math/subtracts",
      "%2e%2e/%2e%2e/etc/passwd",
      "math%2fadds",
      "mat",
      "math/adds?x=1",
      "⁄etc",
    ];
    for (const test_path of paths) {
      const result = await call("run_tests", { test_path });
      expect(result.isError, test_path).toBe(true);
      expect(textOf(result)).toContain('"math/adds"');
    }
  });

  it("say what is wrong with a parameter", async () => {
    const { call } = mcp();
    const result = await call("run_tests", { test_path: "text", parameters: { loud: "yes" } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('"loud"');
  });

  it("are the same in a sandbox, with what an agent has to know there", async () => {
    const { client, call } = await connectMcp(
      ["--url", server().url, "--note", "Commit first."],
      {},
      "mcpProgram",
    );
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "run_tests")?.description).toContain(" Commit first. ");
    expect(textOf(await call("run_tests", { test_path: "math/adds" }))).toBe("1 of 1 test passed.");
  });

  it("tell how far they are", async () => {
    const { call, heard } = mcp();
    const before = heard.length;
    await call("run_tests", {}, { onprogress: () => {} });
    const messages = heard.slice(before);
    const told = messages.flatMap(
      (message) => ProgressNotificationSchema.safeParse(message).data?.params ?? [],
    );
    expect(told.at(-1)).toMatchObject({ progress: 3, total: 3 });
    const steps = told.map(({ progress }) => progress);
    expect(steps).toEqual([...new Set(steps)].sort());
    expect(told.some(({ message }) => message === "failed: math/divides")).toBe(true);
    // The result is the last that is heard.
    expect(messages).toHaveLength(told.length + 1);
    expect(messages.at(-1)).toHaveProperty("result");
  });

  it("give signs of life while a test takes its time, so that nobody gives up", async () => {
    const { url } = await serveEnvironment(hanging());
    const { call } = await connectMcp(["--url", url]);
    const told: number[] = [];
    const cancel = new AbortController();
    const waiting = call(
      "run_tests",
      { test_path: "hangs" },
      { signal: cancel.signal, onprogress: ({ progress }) => told.push(progress) },
    );
    const refused = expect(waiting).rejects.toThrow();
    await waitFor(() => told.length > 0);
    cancel.abort();
    await refused;
    expect(told.every((progress) => progress > 0 && progress < 1)).toBe(true);
  });

  it("answer calls that come at the same time, each with its own results", async () => {
    const { call } = mcp();
    const paths = Array.from({ length: 6 }, (_, index) => ["math/adds", "math", "text/greets"][index % 3]);
    const results = await Promise.all(paths.map((test_path) => call("run_tests", { test_path })));
    expect(results.map(({ structuredContent }) => structuredContent?.["path"])).toEqual(paths);
  });
});
