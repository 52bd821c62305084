import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEnvironmentClient } from "../../../src/environment/client/client.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { http, open, serve } from "../serving.ts";

/** A server of tests in plain Node, as anybody could write one: it knows nothing of ours. */
const SERVER = `
const http = require("node:http");
const fs = require("node:fs");
const results = (path, tests) => {
  const failed = tests.filter(({ passed }) => !passed).length;
  return { path, passed: tests.length - failed, failed, total: tests.length, tests, error: null };
};
const answers = {
  "/ready": () => ({ ok: true }),
  "/schema": () => ({ tests: [{ path: "file/exists", description: "There is one.", extra: 1 }, { path: "noise" }] }),
  "/run/file/exists": ({ parameters = {} }) =>
    results("whatever", [{ path: "file/exists", passed: fs.existsSync(process.env.SANDDUNE_WORKTREE + "/" + (parameters.name ?? "a.txt")), durationMs: 1.5, message: null }]),
  "/run/long": () => results("long", [{ path: "long", passed: false, durationMs: 1, message: "x".repeat(100000) }]),
  "/run/odd": () => ({ passed: true }),
  "/run/wrong": () => ({ ...results("wrong", []), total: 7 }),
  "/run/large": () => results("large", Array.from({ length: 10001 }, (_, index) => ({ path: "t" + index, passed: true, durationMs: 0 }))),
  "/run/text": () => "not JSON at all",
  "/run/die": () => { console.error("I am about to die"); process.exit(9); },
  "/pid": () => ({ pid: process.pid }),
};
http.createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => { text += chunk; });
  request.on("end", () => {
    const answer = answers[request.url];
    if (request.url === "/run/never") return;
    if (answer === undefined) { response.writeHead(404, { "Content-Type": "application/json" }).end('{"error":"no such test","paths":["file/exists"]}'); return; }
    const body = answer(text === "" ? {} : JSON.parse(text));
    response.writeHead(200, { "Content-Type": "application/json" }).end(typeof body === "string" ? body : JSON.stringify(body));
  });
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("listening at", process.env.PORT));
`;

const NODE = JSON.stringify(process.execPath);
const json = (value: object): string => JSON.stringify({ health: "/ready", ...value });
const FILES = { "environment.json": json({ start: `exec ${NODE} server.cjs` }), "server.cjs": SERVER };

describe("an environment's own server", () => {
  it("is started, and speaks through ours", async () => {
    const { url, tests, worktree, progress } = await serve(FILES, { token: "s3cret" });
    expect(progress[0]).toMatch(/^Starting exec .*server\.cjs$/);
    expect((await http(url, "/run/file/exists")).status).toBe(401);
    const client = createEnvironmentClient({ url, token: "s3cret" });
    expect(await client.schema()).toEqual({
      tests: [{ path: "file/exists", description: "There is one." }, { path: "noise" }],
    });
    const missing = await client.run("file/exists");
    expect(missing).toEqual({
      path: "file/exists",
      passed: 0,
      failed: 1,
      total: 1,
      tests: [{ path: "file/exists", passed: false, durationMs: 1.5 }],
      error: null,
    });
    writeFileSync(`${worktree}/b.txt`, "");
    expect(
      await client.run("file/exists", { parameters: { name: "b.txt" }, onProgress: () => {} }),
    ).toMatchObject({ passed: 1 });
    expect(tests.problem()).toBeUndefined();
  });

  it("is held to the protocol, and to its bounds", async () => {
    const { url } = await serve(FILES);
    const client = createEnvironmentClient({ url });
    expect((await client.run("long")).tests[0]?.message).toHaveLength(4000);
    await expect(client.run("unknown")).rejects.toMatchObject({
      status: 404,
      problem: "no such test",
      paths: ["file/exists"],
    });
    for (const [path, problem] of [
      ["odd", '"path" is not a string'],
      ["wrong", '"total" is not the sum of "passed" and "failed"'],
      ["large", '"tests" has more than 10000 items'],
      ["text", "it is not an object"],
    ]) {
      const { status, body } = await http(url, `/run/${path}`);
      expect(status).toBe(502);
      expect(body["error"]).toContain(`answers with something that is not results of tests: ${problem}`);
    }
  });

  it("is restarted by the next request when it has died", async () => {
    const { url, worktree, progress } = await serve(FILES);
    const dying = await http(url, "/run/die");
    expect(dying.status).toBe(502);
    expect(dying.body["error"]).toContain("The test server at http://127.0.0.1:");
    writeFileSync(`${worktree}/a.txt`, "");
    for (let count = 0; count < 5; count++) {
      const both = await Promise.all([http(url, "/run/file/exists"), http(url, "/run/file/exists")]);
      expect(both).toMatchObject([{ body: { passed: 1 } }, { body: { passed: 1 } }]);
      expect((await http(url, "/health", { method: "GET" })).status).toBe(200);
      await http(url, "/run/die");
    }
    // Once for all that asked at a time.
    expect(progress.filter((sentence) => sentence.startsWith("Starting "))).toHaveLength(6);
  });

  it("is restarted three times if it keeps dying, and then reported with the end of its output", async () => {
    const { url, tests } = await serve(FILES);
    for (let count = 0; count < 4; count++) expect((await http(url, "/run/die")).status).toBe(502);
    await waitFor(() => tests.problem() !== undefined);
    const health = await http(url, "/health", { method: "GET" });
    expect(health.status).toBe(503);
    const gone =
      /its server ended with exit code 9; it was restarted 3 times, and will not be again[\s\S]*I am about to die/;
    expect(health.body["error"]).toMatch(gone);
    expect((await http(url, "/run/file/exists")).body["error"]).toMatch(gone);
  });

  it("that cannot be restarted says why", async () => {
    const start = `if [ -e "$SANDDUNE_WORKTREE/broken" ]; then echo no module; exit 4; fi; exec ${NODE} server.cjs`;
    const { url, worktree } = await serve({ ...FILES, "environment.json": json({ start }) });
    writeFileSync(`${worktree}/broken`, "");
    await http(url, "/run/die");
    for (const said of [
      /exit code 4: it must stay.*no module/s,
      /exit code 4/,
      /exit code 4/,
      /3 times.*no module/s,
    ]) {
      expect((await http(url, "/run/file/exists")).body["error"]).toMatch(said);
    }
  });

  it("ends with the tests, and its children with it", async () => {
    const port = await freePort();
    const start = `sleep 1005 & ${NODE} server.cjs`;
    const { tests } = await open({ "environment.json": json({ start, port }), "server.cjs": SERVER });
    const { body } = await http(`http://127.0.0.1:${port}`, "/pid", { method: "GET" });
    expect(processIsAlive(Number(body["pid"]))).toBe(true);
    await tests.close();
    expect(processIsAlive(Number(body["pid"]))).toBe(false);
    await expect(tests.run("")).rejects.toThrow("it was closed");
  });

  it("lets a request go that nobody waits for", async () => {
    const { url } = await serve(FILES);
    const controller = new AbortController();
    const never = createEnvironmentClient({ url }).run("never", { signal: controller.signal });
    setImmediate(() => controller.abort("enough"));
    await expect(never).rejects.toBe("enough");
    expect((await http(url, "/run/file/exists")).status).toBe(200);
  });

  it("has a limit for its answers: what it tests could stop it", async () => {
    const definition = json({ start: `exec ${NODE} server.cjs`, timeoutMs: 300 });
    const { tests } = await serve({ ...FILES, "environment.json": definition });
    await expect(tests.run("never")).rejects.toMatchObject({
      name: "TestServerError",
      problem: "has not answered with results after 300 ms",
    });
    expect(await tests.run("file/exists")).toMatchObject({ failed: 1 });
  });

  it("gets another port than its own, where somebody else has the tests open already", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const files = { ...FILES, "environment.json": json({ start: `exec ${NODE} server.cjs`, port }) };
    const { tests } = await open(files, { runsSetup: false });
    expect(await tests.run("file/exists")).toMatchObject({ total: 1 });
  });
});

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

describe("a server that does not start", () => {
  it("is told of with the end of its log", async () => {
    const failing = open({
      "environment.json": json({ start: "echo first; echo no module named tests >&2; exit 3" }),
    });
    await expect(failing).rejects.toMatchObject({
      name: "EnvironmentStartError",
      problem: expect.stringContaining("ended with exit code 3: it must stay in the foreground"),
      log: expect.stringMatching(/no module named tests/),
    });
    await expect(failing).rejects.toThrow(/The end of its log:\n {2}(first\n {2})?no module/);
  });

  it("because it never is healthy is ended", async () => {
    const start = `echo $$ > pid; echo up; exec sleep 1006`;
    const files = { "environment.json": json({ start, startTimeoutMs: 300 }) };
    await expect(open(files)).rejects.toMatchObject({
      problem: expect.stringMatching(
        /did not answer GET http:\/\/127.0.0.1:\d+\/ready with 200 within 300 ms. It must listen on 127.0.0.1/,
      ),
      log: "up\n",
    });
  });

  it("because its port is taken does not mistake a stranger for it", async () => {
    const stranger = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
    await new Promise((resolve) => stranger.once("listening", resolve));
    onTestFinished(() => void stranger.close());
    const { port } = stranger.address() as { port: number };
    await expect(open({ "environment.json": json({ start: "sleep 1007", port }) })).rejects.toThrow(
      `the port ${port} of its server is in use: end the program that uses it, or remove "port" from environment.json`,
    );
  });

  it("because somebody has changed their mind", async () => {
    const controller = new AbortController();
    const opening = open(
      { "environment.json": json({ start: "sleep 1008" }) },
      { signal: controller.signal, onProgress: () => controller.abort("enough") },
    );
    await expect(opening).rejects.toBe("enough");
  });
});
