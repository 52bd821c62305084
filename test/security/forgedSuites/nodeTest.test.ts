import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SuiteDefinition } from "../../../src/environment/suites/definition.ts";
import { suiteScene } from "../../environment/processes/scene.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import {
  asked,
  atOnce,
  EXITS,
  EXITS_OF_TESTS,
  expectedOf,
  type Files,
  FORGER,
  namesOf,
  threeTests,
} from "./forging.ts";

const NODE = {
  from: 'import assert from "node:assert/strict";\nimport { describe, it, test } from "node:test";',
  equal: "assert.equal",
};
const HIDDEN_NODE: SuiteDefinition = { runner: "node", args: ["{environment}/tests"] };

describeSideBySide("hidden tests of node --test", () => {
  const run = (work: Files, tests: Files, options = {}) => suiteScene(work, tests).run(HIDDEN_NODE, options);

  it("are three, of which one has passed at most, however the work leaves in the second", async () => {
    const results = await run(asked(EXITS_OF_TESTS), threeTests(EXITS_OF_TESTS, NODE));
    // What was told before a signal came may or may not have arrived.
    const isSignal = (name: string) => name === "kill" || name === "abort";
    const names = namesOf(results).map((name) => name.replace(/^(kill|abort)\/adds$/, "✗ $1/adds"));
    expect(names.sort()).toEqual(expectedOf(EXITS_OF_TESTS, (name) => (isSignal(name) ? "---" : "+--")));
    expect(results.error).toBeNull();
    const { message } = results.tests.find(({ path }) => path === "swallowed/leaves") ?? {};
    expect(message).toContain("The process was asked to exit before its tests were over");
  });

  it("are three, and none has passed, however the work leaves when it is imported", async () => {
    const results = await run(atOnce(EXITS), threeTests(EXITS, NODE));
    expect(namesOf(results).sort()).toEqual(expectedOf(EXITS, () => "---"));
  });

  it("fail as a file, if the work leaves and nothing is known of its tests", async () => {
    const script = `import "../../worktree/exit.js";\nimport assert from "node:assert";\nassert.equal(1, 2);\n`;
    const results = await run(atOnce(EXITS), { "tests/script.test.mjs": script });
    expect(namesOf(results)).toEqual(["✗ tests/script.test.mjs"]);
  });

  it("are not passed by work that replaces their assertions", async () => {
    const patch = 'import assert from "node:assert/strict";\ntry { assert.equal = () => {}; } catch {}\n';
    const ways = { patch: "" };
    const work = { "patch.js": `${patch}export const leave = () => {};\nexport const add = () => 0;\n` };
    expect(namesOf(await run({ ...asked({}), ...work }, threeTests(ways, NODE))).sort()).toEqual(
      expectedOf(ways, () => "-+-"),
    );
  });

  it("let programs that they start end as they like", async () => {
    const test = `${NODE.from}
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
const program = process.env.SANDDUNE_WORKTREE + "/seven.js";
test("starts", () => assert.equal(spawnSync(process.execPath, [program]).status, 7));
test("forks", async () => assert.deepEqual(await once(fork(program), "exit"), [7, null]));
test("threads", async () => assert.deepEqual(await once(new Worker(program), "exit"), [7]));
`;
    const results = await run(atOnce({ seven: "process.exit(7)" }), { "tests/programs.test.mjs": test });
    expect([namesOf(results), results.error]).toEqual([["starts", "forks", "threads"], null]);
  });

  it("are run by Node.js of the image, though one of the work is first on the PATH, and keep their results from a program that writes to all files there are", async () => {
    const attack = `import { readdirSync, writeFileSync } from "node:fs";
for (const name of readdirSync(process.env.SANDDUNE_SCRATCH, { recursive: true, encoding: "utf8" })) {
  try { writeFileSync(process.env.SANDDUNE_SCRATCH + "/" + name, "ok 1 - adds\\n1..1\\n"); } catch {}
}
`;
    const test = `${NODE.from}
import { spawnSync } from "node:child_process";
test("adds", () => {
  spawnSync(process.execPath, [process.env.SANDDUNE_WORKTREE + "/attack.mjs"]);
  assert.equal(1, 2);
});
`;
    const work = { "attack.mjs": attack, "bin/node": FORGER, node: FORGER };
    const scene = suiteScene(work, { "tests/writes.test.mjs": test });
    for (const name of ["bin/node", "node"]) chmodSync(join(scene.worktree, name), 0o755);
    const PATH = `${scene.worktree}/bin:.::${process.env["PATH"]}`;
    const results = await scene.run(HIDDEN_NODE, { env: { ...process.env, PATH } });
    expect(namesOf(results)).toEqual(["✗ adds"]);
  });
});
