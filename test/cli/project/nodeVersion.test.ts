import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nodeVersionProblem, OLDEST_NODE } from "../../../src/cli/project/nodeVersion.ts";
import { builtCli } from "../../helpers/built.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

it.each([
  ["18.20.8", false],
  ["20.18.3", false],
  ["20.19.0", true],
  ["21.0.0", true],
  ["22.1.0", true],
  ["100.0.0", true],
])("Node.js %s: %s", (version, isEnough) => {
  expect(nodeVersionProblem(version, "/usr/bin/node") === undefined).toBe(isEnough);
});

it("asks for the same Node.js as the package", () => {
  const { engines } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(engines.node).toBe(`>=${OLDEST_NODE}`);
});

it("says on an older Node.js, before anything else, which one is needed", () => {
  const cli = builtCli();
  const old = join(temporaryDirectory(), "old.cjs");
  writeFileSync(old, 'Object.defineProperty(process.versions, "node", { value: "18.20.8" });');
  const { status, stdout, stderr } = spawnSync("node", ["--require", old, cli, "scenario", "run"], {
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: "",
    stderr: expect.stringMatching(
      /^error: sanddune needs Node\.js 20\.19 or newer, but this is Node\.js 18\.20\.8 \(.*\)\. .*\n$/,
    ),
  });
  expect(execFileSync("node", [cli, "--version"], { encoding: "utf8" })).toMatch(/^\d/);
});
