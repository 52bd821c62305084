import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** A directory with these files. */
export const folder = (files: Readonly<Record<string, string>>, path = temporaryDirectory()): string => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
};

/** What defines an environment; `definition` is what `defineEnvironment` gets. */
export const definitionFile = (definition: string): Record<string, string> => ({
  "environment.mjs": `import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { defineEnvironment } from "@missingstudio/sanddune/environment";
export default defineEnvironment(${definition});
`,
});

/** The folder of an environment. */
export const environment = (definition: string, files: Readonly<Record<string, string>> = {}): string =>
  folder({ ...definitionFile(definition), ...files });

/** Two tests of a greeting in the worktree, of which it depends on the greeting whether they pass. */
export const greetings = (): string =>
  environment(`{
    tests: {
      "greeting/is-there": ({ worktree }) => assert.ok(existsSync(worktree + "/greeting.txt"), "no greeting"),
      "greeting/names": {
        description: "Names whom it greets.",
        parameters: { name: { type: "string", default: "Ada" }, times: { type: "number", default: 1 } },
        run: ({ worktree, parameters: { name, times } }) =>
          assert.equal(readFileSync(worktree + "/greeting.txt", "utf8"), ("Hello, " + name + "\\n").repeat(times)),
      },
    },
  }`);

/** A test that never ends, with a process that hides from it; their process ids are in `pids` of the worktree. */
export const hanging = (settings = ""): string =>
  environment(`{
    ${settings}
    tests: {
      hangs: ({ worktree }) => {
        const hidden = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
        writeFileSync(worktree + "/pids", process.pid + " " + hidden.pid + " ");
        return new Promise(() => {});
      },
      quick: () => {},
    },
  }`);

/** The processes of the test that never ends: both of them, or none yet. */
export const hangingPids = (worktree: string): number[] => {
  const file = join(worktree, "pids");
  return existsSync(file) ? (readFileSync(file, "utf8").match(/\d+(?= )/g) ?? []).map(Number) : [];
};

/** An environment whose test server is a program of its own. */
export const ownServer = (start = "node server.mjs", more: object = {}): string =>
  folder({
    "environment.json": JSON.stringify({ start, health: "/health", ...more }),
    "server.mjs": `import { createServer } from "node:http";
const result = { path: "", passed: 1, failed: 1, total: 2, error: null, tests: [
  { path: "a", passed: true, durationMs: 1 }, { path: "b", passed: false, durationMs: 1, message: "not b" } ] };
createServer((request, response) => {
  const answer = { "/health": { status: "ok" }, "/schema": { tests: [{ path: "a" }, { path: "b" }] }, "/run": result };
  response.writeHead(request.url in answer ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(answer[request.url] ?? { error: "There is no such test." }));
}).listen(Number(process.env.PORT), "127.0.0.1");
`,
  });
