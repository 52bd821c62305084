import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { runCli } from "../callCli.ts";
import { startCli } from "../startCli.ts";
import { environment, greetings, hanging, hangingPids } from "./environmentFolders.ts";

const serve = async (args: readonly string[], vars: Readonly<Record<string, string>> = {}) => {
  const cwd = temporaryDirectory();
  const { child, result } = startCli(["environment", "serve", ...args, "--port", "0"], { cwd, env: vars });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await result;
  });
  if (child.stdout === null) throw new Error("it has no standard output");
  const [url] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    result.then(({ stderr }) => {
      throw new Error(stderr);
    }),
  ])) as [string];
  return { url, cwd, child, result };
};

const ask = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe("sanddune environment serve", () => {
  it("serves the tests on loopback, at the address that it prints", async () => {
    const { url } = await serve([greetings()]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await ask(`${url}/health`)).toEqual({ status: 200, body: { status: "ok" } });
    expect(await ask(`${url}/schema`)).toMatchObject({ body: { tests: [{}, { path: "greeting/names" }] } });
    expect(await ask(`${url}/run/greeting/is-there`, { method: "POST" })).toMatchObject({
      status: 200,
      body: { failed: 1, tests: [{ message: expect.stringContaining("no greeting") }] },
    });
  });

  it("requires the token of the env var, and does not pass it to the tests", async () => {
    const directory = environment(`{
      tests: { "knows/nothing": () => { if (process.env.MY_TOKEN) throw new Error("it knows the token"); } },
    }`);
    const { url } = await serve([directory, "--token-env", "MY_TOKEN"], { MY_TOKEN: "secret" });
    expect(await ask(`${url}/schema`)).toMatchObject({ status: 401 });
    const headers = { authorization: "Bearer secret" };
    expect(await ask(`${url}/schema`, { headers })).toMatchObject({ status: 200 });
    expect(await ask(`${url}/run`, { method: "POST", headers })).toMatchObject({ body: { passed: 1 } });
  });

  it("applies the flags for time limits and parallel tests", async () => {
    const directory = environment(`{
      tests: {
        hangs: () => new Promise(() => {}),
        "process/first": ({ worktree }) => writeFileSync(worktree + "/first", String(process.pid)),
        "process/second": ({ worktree }) => writeFileSync(worktree + "/second", String(process.pid)),
      },
    }`);
    const { url, cwd } = await serve([directory, "--timeout", "0.5", "--concurrency", "1"]);
    expect(await ask(`${url}/run/hangs`, { method: "POST" })).toMatchObject({ body: { failed: 1 } });
    expect(await ask(`${url}/run/process`, { method: "POST" })).toMatchObject({ body: { passed: 2 } });
    const [first, second] = ["first", "second"].map((name) => readFileSync(join(cwd, name), "utf8"));
    expect(first).toBe(second);
  });

  // The other signal: test/cli/environment/run.test.ts.
  it("ends with everything that it has started when it gets SIGINT", async () => {
    const { url, cwd, child, result } = await serve([hanging()]);
    const asked = fetch(`${url}/run/hangs`, { method: "POST" }).then(
      () => "answered",
      () => "gone",
    );
    await waitFor(() => hangingPids(cwd).length === 2);
    child.kill("SIGINT");
    expect(await result).toMatchObject({ exitCode: 130 });
    expect(hangingPids(cwd).filter(processIsAlive)).toEqual([]);
    expect(await asked).toBe("gone");
  });

  it("ends with 2 if the port is taken, or is none", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const port = String((taken.address() as AddressInfo).port);
    for (const wrong of [port, "70000", "eight"]) {
      const args = ["environment", "serve", greetings(), "--port", wrong];
      const { exitCode, stderr } = await runCli(args, { cwd: temporaryDirectory() });
      expect(exitCode).toBe(2);
      expect(stderr).toContain(wrong);
    }
  });
});
