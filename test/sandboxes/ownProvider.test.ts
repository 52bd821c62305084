import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stop, transformSync } from "esbuild";
import { expect, it } from "vitest";
import { sandboxConformance } from "../../src/testing.ts";
import { builtCli } from "../helpers/built.ts";
import { linkPackage } from "../helpers/linkPackage.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The examples in a directory where sanddune is installed; their types are taken away, since not every Node does that itself. */
const installed = (...names: readonly string[]): string => {
  const directory = temporaryDirectory();
  linkPackage(directory);
  for (const name of names) {
    const source = readFileSync(join(ROOT, "docs/examples", `${name}.ts`), "utf8");
    const { code } = transformSync(source.replaceAll('.ts"', '.mjs"'), { loader: "ts", target: "node20" });
    writeFileSync(join(directory, `${name}.mjs`), code);
  }
  // It would keep a process until the end of the test file.
  stop();
  return directory;
};

it("the example of a provider made with the kit passes the conformance suite", () => {
  builtCli();
  const cwd = installed("ssh-provider", "ssh-provider.test");
  // Not told that it is within a test run of another runner.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { stdout, status } = spawnSync(process.execPath, ["--test", "ssh-provider.test.mjs"], {
    cwd,
    env: { ...env, TMPDIR: cwd },
    encoding: "utf8",
  });
  expect(stdout.split("\n").filter((line) => line.includes("not ok"))).toEqual([]);
  const { cases } = sandboxConformance(() => Promise.reject(), { ownsProcessNamespace: false });
  expect(stdout).toContain(`pass ${cases.length}\n`);
  expect(status).toBe(0);
}, 180_000);
