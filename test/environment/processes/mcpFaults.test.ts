import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestResults } from "../../../src/environment/contract.ts";
import { connectMcp, textOf, useMcp } from "./mcpClient.ts";

/** A test server of somebody else's, which may answer anything: what the test says. */
let answer: RequestListener;
let server: Server;
let url = "";

const listen = async (port: number): Promise<void> => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const close = (): void => {
  server.close();
  server.closeAllConnections();
};

beforeAll(() => listen(0));
afterAll(close);
const mcp = useMcp(() => url);

const answering = (body: string, status = 200): RequestListener => {
  return (_, response) => response.writeHead(status, { "content-type": "application/json" }).end(body);
};

const results = (tests: TestResults["tests"]): TestResults => {
  const passed = tests.filter((test) => test.passed).length;
  return { path: "", passed, failed: tests.length - passed, total: tests.length, tests, error: null };
};

describe("A test server", () => {
  it("that is not there is an error that says so, until it is there again", async () => {
    answer = answering(JSON.stringify({ tests: [{ path: "a" }] }));
    const { call } = mcp();
    close();
    const result = await call("run_tests");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(`The test server at ${url} does not answer (ECONNREFUSED).`);
    expect(await call("list_tests")).toMatchObject({ isError: true });
    await listen(Number(new URL(url).port));
    expect(await call("list_tests")).toMatchObject({ structuredContent: { tests: [{ path: "a" }] } });
  });

  it("that goes away in the middle is an error", async () => {
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write('{"progress":{"done":1,"total":2}}\n', () => response.destroy());
    };
    expect(await mcp().call("run_tests")).toMatchObject({ isError: true });
  });

  it("that answers something else than a test server is an error, and no end", async () => {
    const bodies = [
      "<html>It works!</html>",
      "",
      '{"hello":1}',
      "null",
      '{"path":"","passed":1,"failed":0,"total":1,"tests":[{"path":7}],"error":null}',
      JSON.stringify({ ...results([]), tests: [{ path: "../a", passed: true, durationMs: 1 }] }),
    ];
    const { call } = mcp();
    for (const body of bodies) {
      answer = answering(body);
      for (const name of ["run_tests", "list_tests"]) {
        const result = await call(name);
        expect(result.isError, body).toBe(true);
        expect(textOf(result)).toMatch(/^The test server at http:/);
      }
    }
  });

  it("that answers with an error of its own is quoted, in bounds", async () => {
    answer = answering(JSON.stringify({ error: "x".repeat(100_000) }), 400);
    const { call } = mcp();
    const result = await call("run_tests", { test_path: "a" });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("xxx");
    expect(textOf(result).length).toBeLessThan(10_000);
  });

  it("that answers more than a conversation can hold is told in bounds, failures first", async () => {
    const tests = Array.from({ length: 5000 }, (_, index) => ({
      path: `suite/case-${index}`,
      passed: index % 2 === 0,
      durationMs: 1,
      ...(index % 2 === 0 ? {} : { message: `wrong ${index} ${"y".repeat(300)}` }),
    }));
    answer = answering(JSON.stringify(results(tests)));
    const { call } = mcp();
    const result = await call("run_tests");
    const content = result.structuredContent as unknown as TestResults & { testsLeftOut: number };
    expect(JSON.stringify(content).length).toBeLessThanOrEqual(40_000);
    expect(content).toMatchObject({ passed: 2500, failed: 2500, total: 5000, error: null });
    expect(content.tests.every(({ passed }) => !passed)).toBe(true);
    expect(content.tests.length + content.testsLeftOut).toBe(5000);
    expect(textOf(result).length).toBeLessThanOrEqual(8000);
    expect(textOf(result)).toMatch(/^2500 of 5000 tests passed\.\n- suite\/case-1: wrong 1 /);
    expect(textOf(result)).toMatch(/And \d+ more failures/);
  });

  it("that has more tests than a conversation can hold lists them in bounds", async () => {
    const tests = Array.from({ length: 5000 }, (_, index) => ({
      path: `case-${index}`,
      description: "z".repeat(50),
    }));
    answer = answering(JSON.stringify({ tests }));
    const { call } = mcp();
    const result = await call("list_tests");
    expect(JSON.stringify(result.structuredContent).length).toBeLessThanOrEqual(40_000);
    expect(textOf(result).length).toBeLessThanOrEqual(8000);
    expect(textOf(result)).toMatch(/^There are 5000 tests:\n- case-0: zzz/);
    expect(textOf(result)).toMatch(/And \d+ more/);
  });

  it("whose tests say half of a character breaks nobody's parser", async () => {
    const broken =
      '{"path":"","passed":0,"failed":1,"total":1,"error":null,"tests":[{"path":"a","passed":false,"durationMs":1,"message":"\\ud83d"}]}';
    answer = answering(broken);
    const { call } = mcp();
    expect(await call("run_tests")).toMatchObject({ structuredContent: { tests: [{ message: "\ufffd" }] } });
  });

  it("gets the token of the env var that was named, and it is on no command line", async () => {
    const seen: (string | undefined)[] = [];
    answer = (request, response) => {
      seen.push(request.headers.authorization);
      answering(JSON.stringify({ tests: [] }))(request, response);
    };
    const { call } = await connectMcp(["--url", url, "--token-env", "MY_TOKEN"], { MY_TOKEN: "secret" });
    await call("list_tests");
    expect(seen).toEqual(["Bearer secret"]);
  });
});

describe("Arguments that are wrong", () => {
  it("never get to the test server, and say what to pass instead", async () => {
    const wrong: [Record<string, unknown>, string][] = [
      [{ test_path: "../../etc/passwd" }, '"." or ".."'],
      [{ test_path: "a/../../b" }, '"." or ".."'],
      [{ test_path: "/etc/passwd" }, 'begins or ends with "/"'],
      [{ test_path: "..\\..\\etc" }, "backslash"],
      [{ test_path: "a\r\nHost: b" }, "control character"],
      [{ test_path: 7 }, "not a string"],
      [{ path: "a" }, "expected one of: test_path, parameters"],
      [{ parameters: "a=b" }, "must be an object"],
      [{ parameters: { a: [1] } }, "must be a string, a number, true or false"],
    ];
    let asked = 0;
    answer = (_, response) => {
      asked++;
      response.end();
    };
    const { call } = mcp();
    for (const [args, said] of wrong) {
      const result = await call("run_tests", args);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain(said);
    }
    expect(asked).toBe(0);
  });

  it("of 10 MB are an error like others, and what comes next is answered", async () => {
    answer = answering(JSON.stringify({ tests: [] }));
    const { call } = mcp();
    const result = await call("run_tests", { test_path: "a".repeat(10 * 1024 * 1024) });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("more than 512 characters");
    // Six times as long on its way.
    const parameters = { text: "\u0001".repeat(10 * 1024 * 1024) };
    expect(await call("run_tests", { parameters })).toMatchObject({ isError: true });
    expect(await call("list_tests")).toMatchObject({ structuredContent: { tests: [] } });
  });

  it("null is the same as nothing", async () => {
    answer = answering(JSON.stringify(results([{ path: "a", passed: true, durationMs: 1 }])));
    const { call } = mcp();
    const result = await call("run_tests", { test_path: null, parameters: null });
    expect(textOf(result)).toBe("1 of 1 test passed.");
  });

  it("a tool that does not exist is an error of the protocol, which names those that do", async () => {
    answer = answering("{}");
    const { call } = mcp();
    await expect(call("rm")).rejects.toThrow("list_tests, run_tests");
  });
});
