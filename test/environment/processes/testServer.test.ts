import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEnvironmentClient } from "../../../src/environment/client/client.ts";
import type { TestProgress } from "../../../src/environment/contract.ts";
import { startTestServer } from "../../../src/environment/server/testServer.ts";
import { useTool } from "../builtTool.ts";
import { definition, http, serveDefinition, useServer } from "../serving.ts";

useTool();

const CALCULATOR = `concurrency: 1, tests: {
  "math/add": { description: "Adds.", run: () => assert.equal(1 + 1, 2) },
  "math/sub": () => assert.equal(3 - 1, 1, "three minus one"),
  mathematics: () => {},
  "text/repeat": {
    parameters: { word: { type: "string", default: "ha" }, count: { type: "number", description: "How often." } },
    run: ({ parameters }) => { throw new Error(parameters.word.repeat(parameters.count)); },
  },
}`;

const calculator = useServer({ "environment.mjs": definition(CALCULATOR) });

const post = (value: unknown) => ({ body: JSON.stringify(value) });

describe("a test server", () => {
  it("is healthy, and says which tests it has", async () => {
    const { url } = calculator();
    expect(await http(url, "/health", { method: "GET" })).toMatchObject({
      status: 200,
      body: { status: "ok" },
    });
    const schema = await http(url, "/schema", { method: "GET" });
    expect(schema.status).toBe(200);
    expect(schema.body).toEqual({
      tests: [
        { path: "math/add", description: "Adds." },
        { path: "math/sub" },
        { path: "mathematics" },
        {
          path: "text/repeat",
          parameters: {
            word: { type: "string", default: "ha" },
            count: { type: "number", description: "How often." },
          },
        },
      ],
    });
  });

  it("runs a test by its path, all that begin with one, or all", async () => {
    const { url } = calculator();
    const one = await http(url, "/run/math/add");
    expect(one).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    expect(one.body).toEqual({
      path: "math/add",
      passed: 1,
      failed: 0,
      total: 1,
      tests: [{ path: "math/add", passed: true, durationMs: expect.any(Number) }],
      error: null,
    });
    expect((await http(url, "/run/math")).body).toMatchObject({
      path: "math",
      passed: 1,
      failed: 1,
      total: 2,
      tests: [
        { path: "math/add", passed: true },
        { path: "math/sub", passed: false, message: expect.stringContaining("three minus one") },
      ],
      error: null,
    });
    const all = await http(url, "/run", post({ parameters: { count: 2 } }));
    expect(all.body).toMatchObject({ path: "", passed: 2, failed: 2, total: 4, error: null });
    expect(all.body.tests?.map(({ path }) => path)).toEqual([
      "math/add",
      "math/sub",
      "mathematics",
      "text/repeat",
    ]);
  });

  it("takes paths in percent-encoding, whole or segment by segment", async () => {
    const { url } = await serveDefinition(`tests: { "a b/ü%": () => {} }`);
    for (const path of ["/run/a%20b/%C3%BC%25", "/run/a%20b%2F%c3%bc%25", "/run/a%20b"]) {
      expect((await http(url, path)).body).toMatchObject({ passed: 1, total: 1 });
    }
  });

  it("answers an unknown path with 404, and with paths that could have been meant", async () => {
    const { url } = calculator();
    for (const path of ["/run/math/ad", "/run/math/add/more", "/run/mat", "/run/Math/add"]) {
      const { status, body } = await http(url, path);
      expect(status).toBe(404);
      expect(body["error"]).toMatch(/^There is no test "/);
      expect((body["paths"] as string[])[0]).toBe("math/add");
    }
    expect((await http(url, "/elsewhere")).status).toBe(404);
    expect((await http(url, "/run", { method: "GET" })).status).toBe(405);
  });

  it("refuses a path that no test can have with 400", async () => {
    const { url } = calculator();
    const upwards = ["/run/../schema", "/run/math/%2e%2e/math/add", "/run/%2e", "/run/..%2f..%2fetc"];
    const odd = ["/run//math", "/run/math/", "/run/a%5Cb", "/run/%00", "/run/%ff", `/run/${"x".repeat(600)}`];
    for (const path of [...upwards, ...odd]) {
      const { status, body } = await http(url, path);
      expect(status).toBe(400);
      expect(body["error"]).toMatch(/Pass a path from GET \/schema|percent-encoded/);
    }
  });

  it("passes parameters on, and defaults", async () => {
    const { url } = calculator();
    const run = (parameters: unknown) => http(url, "/run/text", post({ parameters }));
    expect((await run({ count: 3 })).body.tests?.[0]?.message).toBe("hahaha");
    expect((await run({ count: 1, word: "ho" })).body.tests?.[0]?.message).toBe("ho");
  });

  it("refuses a body that it does not understand with 400, and says what to send", async () => {
    const { url } = calculator();
    const refused: [unknown, RegExp][] = [
      [{ parameters: {} }, /"text\/repeat" needs the parameter "count"/],
      [{ parameters: { count: "2" } }, /takes a number as parameter "count", not a string/],
      [{ parameters: { count: 1, other: 1 } }, /There is no parameter "other". Expected one of: word, count/],
      [{ parameters: { count: [1] } }, /"count" must be a string, a number, true or false/],
      [{ parameters: [1] }, /"parameters" must be an object/],
      [{ param: {} }, /The body has an unknown member "param"; expected "parameters" only/],
      ["text", /The body must be an object/],
    ];
    for (const [body, message] of refused) {
      const answer = await http(url, "/run/text", post(body));
      expect(answer.status).toBe(400);
      expect(answer.body["error"]).toMatch(message);
    }
  });

  it("refuses a body that is not JSON with 400, and one that is too large with 413", async () => {
    const { url } = calculator();
    const bad = await http(url, "/run", { body: "{ parameters: 1 }" });
    expect(bad).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("The body is not JSON") },
    });
    const large = await http(url, "/run/math/add", { body: Buffer.alloc(3 * 1024 * 1024, " ") });
    expect(large).toMatchObject({
      status: 413,
      body: { error: expect.stringContaining("Send a smaller one") },
    });
    expect((await http(url, "/run/math/add")).status).toBe(200);
  });

  it("requires its token for everything but its health", async () => {
    const { url } = await serveDefinition(CALCULATOR, { token: "s3cret" });
    expect((await http(url, "/health", { method: "GET" })).status).toBe(200);
    for (const authorization of ["", "Bearer wrong", "Basic s3cret", "Bearer s3crets"]) {
      for (const [path, method] of [
        ["/schema", "GET"],
        ["/run", "POST"],
      ]) {
        const answer = await http(url, path as string, {
          method: method as string,
          headers: { authorization },
        });
        expect(answer.status).toBe(401);
        expect(answer.headers["www-authenticate"]).toBe("Bearer");
      }
    }
    const headers = { authorization: "Bearer s3cret" };
    expect((await http(url, "/run/math/add", { headers })).status).toBe(200);
    expect(await createEnvironmentClient({ url, token: "s3cret" }).run("math/add")).toMatchObject({
      passed: 1,
    });
    await expect(createEnvironmentClient({ url }).schema()).rejects.toThrow("Set SANDDUNE_ENVIRONMENT_TOKEN");
  });

  it("does not tell its token to tests", async () => {
    process.env["SANDDUNE_ENVIRONMENT_TOKEN"] = "s3cret";
    onTestFinished(() => void delete process.env["SANDDUNE_ENVIRONMENT_TOKEN"]);
    const { url } = await serveDefinition(
      `tests: { env: () => assert.equal(JSON.stringify(process.env).includes("s3cret"), false) }`,
      { token: "s3cret" },
    );
    expect((await http(url, "/run", { headers: { authorization: "Bearer s3cret" } })).body).toMatchObject({
      passed: 1,
    });
  });

  it("is for this machine only, and not for web pages", async () => {
    const { url } = calculator();
    const { port, hostname } = new URL(url);
    expect(hostname).toBe("127.0.0.1");
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4");
    for (const { address } of others) {
      await expect(http(`http://${address}:${port}`, "/health", { method: "GET" })).rejects.toThrow(
        "ECONNREFUSED",
      );
    }
    expect((await http(url, "/run", { headers: { origin: "http://evil.example" } })).status).toBe(403);
    expect((await http(url, "/run", { headers: { host: `evil.example:${port}` } })).status).toBe(403);
    expect(
      (await http(url, "/schema", { method: "GET", headers: { host: `localhost:${port}` } })).status,
    ).toBe(200);
  });

  it("says so if its port is taken", async () => {
    const { tests } = calculator();
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    await expect(startTestServer({ tests, port })).rejects.toThrow(
      `cannot listen at ${port}, which is in use: choose another port`,
    );
  });
});

describe("progress", () => {
  it("comes in lines, and then the result", async () => {
    const { url } = calculator();
    const { status, headers, text } = await http(url, "/run/math", {
      headers: { accept: "application/x-ndjson" },
    });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/x-ndjson");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => Object.keys(line).join())).toEqual([
      "progress",
      "progress",
      "progress",
      "result",
    ]);
    expect(lines[0]).toEqual({ progress: { done: 0, total: 2 } });
    expect(lines[2].progress).toMatchObject({
      done: 2,
      total: 2,
      last: { path: expect.stringMatching(/^math/) },
    });
    expect(lines[3].result).toMatchObject({ path: "math", total: 2, error: null });
  });

  it("does not take the status from what is refused", async () => {
    const { url } = calculator();
    const headers = { accept: "application/x-ndjson" };
    expect((await http(url, "/run/nothing", { headers })).status).toBe(404);
    expect((await http(url, "/run/text", { headers })).status).toBe(400);
  });

  it("reaches the client", async () => {
    const { url } = calculator();
    const progress: TestProgress[] = [];
    const results = await createEnvironmentClient({ url }).run("math", {
      onProgress: (told) => progress.push(told),
    });
    expect(results).toMatchObject({ passed: 1, failed: 1 });
    expect(progress.map(({ done, total }) => `${done}/${total}`)).toEqual(["0/2", "1/2", "2/2"]);
    expect(progress[2]?.last?.durationMs).toEqual(expect.any(Number));
  });
});

describe("the client", () => {
  it("rejects a wrong request, with what to do", async () => {
    const { url } = calculator();
    const client = createEnvironmentClient({ url });
    await expect(client.run("nothing")).rejects.toMatchObject({
      name: "TestRequestError",
      status: 404,
      paths: expect.arrayContaining(["math/add"]),
    });
    await expect(client.run("../x")).rejects.toMatchObject({ name: "TestRequestError", status: 400 });
    await expect(client.run("x".repeat(10_000_000))).rejects.toMatchObject({
      name: "TestRequestError",
      status: 400,
    });
    await expect(client.run("text")).rejects.toThrow(/needs the parameter "count"/);
  });

  it("says that nobody answers", async () => {
    const { url, close } = await serveDefinition(CALCULATOR);
    await close();
    await expect(createEnvironmentClient({ url }).schema()).rejects.toMatchObject({
      name: "TestServerError",
      message: `The test server at ${url} does not answer (ECONNREFUSED). Check that it runs, and that the address is right.`,
    });
    await expect(createEnvironmentClient({ url: "https://example.com" }).schema()).rejects.toThrow(
      /Write it as http:\/\/127.0.0.1:8000/,
    );
  });

  it("rejects with the reason of an abort", async () => {
    const { url } = await serveDefinition(`tests: { never: () => new Promise(() => {}) }`);
    const controller = new AbortController();
    const running = createEnvironmentClient({ url }).run("", {
      signal: controller.signal,
      onProgress: () => controller.abort("enough"),
    });
    await expect(running).rejects.toBe("enough");
  });
});
