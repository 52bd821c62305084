import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createEnvironmentClient } from "../../../src/environment/client/client.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { useTool } from "../builtTool.ts";
import { definition, serveDefinition, useServer } from "../serving.ts";

useTool();

/** Sessions note what becomes of them in a file that has the name of their parameter. */
const NOTED = `
  concurrency: 1,
  setup: ({ parameters: { name }, worktree }) => {
    const note = (text) => writeFileSync(join(worktree, name), text + "\\n", { flag: "a" });
    note("setup " + process.pid);
    if (name === "trouble") throw new Error("no room");
    return { note, count: 0 };
  },
  teardown: ({ note, count }) => note("teardown after " + count),
  tests: Object.fromEntries(["count/1", "count/2", "dies/1", "dies/2", "waits"].map((path) => [path, {
    parameters: { name: { type: "string" } },
    run: async ({ session }) => {
      if (path === "dies/1") process.exit(1);
      if (path === "waits") await new Promise(() => setInterval(() => {}, 1000));
      throw new Error(String(++session.count));
    },
  }]))`;

const noted = useServer({ "environment.mjs": definition(NOTED) });

const notes = (worktree: string, name: string): string[] =>
  existsSync(join(worktree, name)) ? readFileSync(join(worktree, name), "utf8").trim().split("\n") : [];

const pidOf = (worktree: string, name: string): number => Number(notes(worktree, name)[0]?.split(" ")[1]);

const runAs = (name: string, path: string) =>
  createEnvironmentClient({ url: noted().url }).run(path, { parameters: { name } });

describe("a test session", () => {
  it("is set up once, keeps what the set-up has made, and is torn down", async () => {
    const { worktree } = noted();
    const { tests } = await runAs("ada", "count");
    expect(tests.map(({ message }) => message)).toEqual(["1", "2"]);
    expect(notes(worktree, "ada")).toEqual([expect.stringMatching(/^setup \d+$/), "teardown after 2"]);
    expect(processIsAlive(pidOf(worktree, "ada"))).toBe(false);
  });

  it("continues in a new process if a test has ended its own", async () => {
    const { tests } = await runAs("eve", "dies");
    expect(tests.map(({ message }) => message)).toEqual(["its process ended with exit code 1", "1"]);
    expect(notes(noted().worktree, "eve")).toEqual([
      expect.stringContaining("setup"),
      expect.stringContaining("setup"),
      "teardown after 1",
    ]);
  });

  it("runs no test if its set-up fails, and the results say so", async () => {
    const { tests, error } = await runAs("trouble", "count");
    expect(tests).toEqual([]);
    expect(error).toBe("The set-up failed: no room");
    expect(processIsAlive(pidOf(noted().worktree, "trouble"))).toBe(false);
  });

  it("whose tear-down fails says so in the results of its run", async () => {
    const { url } = await serveDefinition(
      `tests: { fine: () => {} }, teardown: () => { throw new Error("it cannot be taken back"); }`,
    );
    expect(await createEnvironmentClient({ url }).run("")).toMatchObject({
      passed: 1,
      failed: 0,
      error: expect.stringContaining("The tear-down failed: it cannot be taken back"),
    });
  });

  it("ends with the tests, and its children with it", async () => {
    const { tests, worktree } = await serveDefinition(NOTED);
    const running = expect(tests.run("waits", { parameters: { name: "bob" } })).rejects.toThrow(
      "it was closed",
    );
    await waitFor(() => notes(worktree, "bob").length === 1);
    await tests.close();
    await tests.close();
    await running;
    expect(processIsAlive(pidOf(worktree, "bob"))).toBe(false);
    await expect(tests.run("waits", { parameters: { name: "bob" } })).rejects.toThrow("it was closed");
    expect(tests.problem()).toBe("It is being closed.");
  });
});
