import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createEnvironmentClient } from "../../../src/environment/open/client.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { useTool } from "../builtTool.ts";
import { definition, http, serveDefinition, useServer } from "../serving.ts";

useTool();

/** Sessions note what becomes of them in a file that has the name of their parameter. */
const NOTED = `
  setup: ({ parameters: { name = "nobody" }, worktree }) => {
    const note = (text) => writeFileSync(join(worktree, name), text + "\\n", { flag: "a" });
    note("setup " + process.pid);
    if (name === "trouble") throw new Error("no room");
    return { note, count: 0 };
  },
  teardown: ({ note, count }) => note("teardown after " + count),
  tests: {
    count: { parameters: { name: { type: "string", default: "x" } }, run: ({ session }) => { session.count++; throw new Error(String(session.count)); } },
    dies: () => process.exit(1),
  }`;

const noted = useServer({ "environment.mjs": definition(NOTED) });

const notes = (worktree: string, name: string): string[] =>
  readFileSync(join(worktree, name), "utf8").trim().split("\n");

const pidOf = (worktree: string, name: string): number => Number(notes(worktree, name)[0]?.split(" ")[1]);

const post = (value: unknown) => ({ body: JSON.stringify(value) });

describe("a test session", () => {
  it("is set up once, keeps what the set-up has made, and is torn down", async () => {
    const { url, worktree } = noted();
    const begun = await http(url, "/sessions", post({ parameters: { name: "ada" } }));
    expect(begun).toMatchObject({ status: 201, body: { session: expect.any(String) } });
    const { session } = begun.body;
    for (const count of ["1", "2"]) {
      const { body } = await http(url, "/run/count", post({ session }));
      expect(body.tests?.[0]?.message).toBe(count);
    }
    expect((await http(url, `/sessions/${session}`, { method: "DELETE" })).status).toBe(204);
    expect(notes(worktree, "ada")).toEqual([expect.stringMatching(/^setup \d+$/), "teardown after 2"]);
    expect(processIsAlive(pidOf(worktree, "ada"))).toBe(false);
  });

  it("that there is not, or not any more, is answered with 404", async () => {
    const { url } = noted();
    const client = createEnvironmentClient({ url });
    const session = await client.beginSession();
    await client.endSession(session);
    for (const answer of [
      await http(url, `/sessions/${session}`, { method: "DELETE" }),
      await http(url, "/run/count", post({ session })),
      await http(url, "/sessions/..%2f", { method: "DELETE" }),
    ]) {
      expect(answer).toMatchObject({
        status: 404,
        body: { error: expect.stringContaining("Begin another: POST /sessions.") },
      });
    }
  });

  it("goes on in a new process if a test has ended its own", async () => {
    const { url, worktree } = noted();
    const client = createEnvironmentClient({ url });
    const session = await client.beginSession({ parameters: { name: "eve" } });
    expect((await client.run("dies", { session })).tests[0]?.message).toBe(
      "its process ended with exit code 1",
    );
    expect((await client.run("count", { session })).tests[0]?.message).toBe("1");
    expect(notes(worktree, "eve")).toMatchObject([
      expect.stringContaining("setup"),
      expect.stringContaining("setup"),
    ]);
  });

  it("is not begun if its set-up fails", async () => {
    const { url, worktree } = noted();
    const { status, body } = await http(url, "/sessions", post({ parameters: { name: "trouble" } }));
    expect(status).toBe(422);
    expect(body["error"]).toBe("The set-up failed: no room");
    await waitFor(() => !processIsAlive(pidOf(worktree, "trouble")));
  });

  it("of a run that has none is torn down after it", async () => {
    const { url, worktree } = noted();
    const results = await createEnvironmentClient({ url }).run("count", { parameters: { name: "bob" } });
    expect(results.tests[0]?.message).toBe("1");
    expect(notes(worktree, "bob")).toEqual([expect.stringContaining("setup"), "teardown after 1"]);
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
    await tests.beginSession();
    const pid = pidOf(worktree, "nobody");
    expect(processIsAlive(pid)).toBe(true);
    await tests.close();
    await tests.close();
    expect(processIsAlive(pid)).toBe(false);
    expect(notes(worktree, "nobody").at(-1)).toBe("teardown after 0");
    await expect(tests.run("count")).rejects.toThrow("it was closed");
    expect(tests.problem()).toBe("It is being closed.");
  });
});
