import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toolFile, useTool } from "../../environment/builtTool.ts";
import { folder } from "../../environment/serving.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { AGENTS, describeWith } from "../../helpers/runtimes/runtimes.ts";

const DEFINITION = `import assert from "node:assert/strict";
import { defineEnvironment, type TestContext } from "@missingstudio/sanddune/environment";
import { greet, type Greeting } from "./greet.ts";

interface Session { readonly name: string }

export default defineEnvironment<Session>({
  setup: () => ({ name: "ada" }),
  tests: {
    greets: ({ session }: TestContext<Session>): void => assert.equal(greet(session.name) satisfies Greeting, "hello ada"),
    fails: () => assert.equal(1 as number, 2),
  },
  files: ["greet.ts"],
});
`;

const GREET = `export type Greeting = string & { readonly length: number };
export const greet = (name: string): Greeting => ["hello", name].join(" ");
`;

describeWith(["node 22"], "an environment of TypeScript", () => {
  useTool();

  it("runs as environment.ts, with no package installed beside it", () => {
    const directory = folder({ "environment.ts": DEFINITION, "greet.ts": GREET });
    const args = [toolFile(), "run", "--directory", directory, "--worktree", temporaryDirectory()];
    const { stdout, stderr, status } = spawnSync(join(AGENTS, "bin/node22"), args, { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      result: {
        passed: 1,
        failed: 1,
        tests: [
          { path: "greets", passed: true },
          { path: "fails", message: expect.stringContaining("1 !== 2") },
        ],
      },
    });
  });
});
