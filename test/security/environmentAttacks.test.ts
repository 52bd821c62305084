import { expect, it } from "vitest";
import { allPassed } from "../../src/environment/contract.ts";
import {
  type AgentStreamEvent,
  type RunOptions,
  run,
  type SandboxProvider,
  type ScriptedStep,
  scripted,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { environmentFolder, greetingEnvironment } from "../helpers/environments.ts";
import { NODE_PATH, nodeMount } from "../helpers/nodeMount.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { shell } from "./support.ts";

const IN_DOCKER = { env: { PATH: { public: NODE_PATH } } };
const dockerWithNode = () => docker({ image: TEST_IMAGE, mounts: [nodeMount()] });

/** Has an agent do its worst, and tells what its commands printed and what the tests say. */
const attack = async (
  sandbox: SandboxProvider,
  isolation: "shared" | "strict",
  steps: readonly ScriptedStep[],
  options: Partial<RunOptions> = {},
) => {
  const printed: string[] = [];
  const { iterations } = await run({
    agent: scripted(steps),
    sandbox,
    cwd: temporaryRepository(),
    branchStrategy: { type: "branch", branch: "agent/attack" },
    prompt: "Pass.",
    environment: { path: greetingEnvironment({ "answer.txt": "the hidden answer\n" }), isolation },
    logging: {
      type: "file",
      onAgentStreamEvent: (event: AgentStreamEvent) => {
        if (event.type === "toolResult") printed.push(event.output);
      },
    },
    ...options,
  } as RunOptions);
  const results = iterations.flatMap(({ tests }) => tests ?? []);
  return { printed, results, tests: results[0] };
};

const FAILED = { passed: 0, failed: 2, total: 2, error: null };

/** Tries to change, replace and remove everything that could be tests. */
const CHANGE_TESTS = shell(
  `echo begin
for place in /sanddune/environment "$(dirname "$PWD")/sanddune-environment"; do
  find "$place" -type f 2>/dev/null | while IFS= read -r file; do
    (echo '// changed' >>"$file") 2>/dev/null && echo "wrote $file"
    rm -f -- "$file" 2>/dev/null && echo "removed $file"
  done
  mv -- "$place" "$place.gone" 2>/dev/null && echo "moved $place"
  mount -o remount,rw "$place" 2>/dev/null && echo "remounted $place"
done
echo end`,
);

/** Ends the test server if it can, and answers in its place that everything passes. */
const POSE_AS_SERVER = shell(
  `for directory in /proc/[0-9]*; do
  tr '\\0' ' ' <"$directory/cmdline" 2>/dev/null | grep -q '[t]ool.js serve' && kill -9 "\${directory#/proc/}"
done
cat >/tmp/pose.mjs <<'END'
import { rmSync } from "node:fs";
import { createServer } from "node:http";
const all = JSON.stringify({ path: "", passed: 2, failed: 0, total: 2, tests: [], error: null });
const pose = (where) => createServer((_, response) => response.end(all)).on("error", () => {}).listen(where);
rmSync("/tmp/sanddune-tests.sock", { force: true });
pose("/tmp/sanddune-tests.sock");
pose({ host: "127.0.0.1", port: Number(process.env.SANDDUNE_TESTS_URL.split(":").at(-1)) });
END
(setsid node /tmp/pose.mjs >/dev/null 2>&1 &)
echo posing`,
);

/** Plants programs and settings that whoever runs commands later might pick up. */
const PLANT = shell(
  `mkdir -p "$HOME/bin" node_modules/sanddune .git/hooks 2>/dev/null
for name in node sh tar git; do printf '#!/bin/sh\\nexit 0\\n' >"$HOME/bin/$name"; chmod +x "$HOME/bin/$name"; done
cp "$HOME/bin/node" ./node
printf 'export NODE_OPTIONS=--require=/tmp/evil.cjs PATH=%s/bin:$PATH\\n' "$HOME" | tee "$HOME/.profile" "$HOME/.bashrc" >"$HOME/.env"
echo 'process.exit(0)' >/tmp/evil.cjs
echo planted`,
);

/** Run by a test: prints results where the program that runs the tests does, and asks that for its debugger. */
const FORGE = `import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
const result = { path: "", passed: 1, failed: 0, total: 1, tests: [{ path: "right", passed: true, durationMs: 1 }], error: null };
const attempt = (act) => { try { return act(); } catch { return false; } };
const isTool = (pid) => / \\S*tool.js (run|worker|serve)/.test(readFileSync("/proc/" + pid + "/cmdline", "utf8").split("\\0").join(" "));
for (const pid of readdirSync("/proc").filter((name) => Number(name) > 0 && attempt(() => isTool(name)))) {
  attempt(() => writeFileSync("/proc/" + pid + "/fd/1", JSON.stringify({ type: "result", result }) + "\\n"));
  attempt(() => process.kill(Number(pid), "SIGUSR1"));
}
setTimeout(() => {
  connect(9229, "127.0.0.1", () => { console.log("debugger"); process.exit(); }).on("error", () => console.log("tried"));
}, 1000);
`;

const FORGED = {
  "environment.mjs": `import { defineEnvironment } from "sanddune/environment";
export default defineEnvironment({ tests: { right: async ({ run }) => { throw new Error((await run("node work.mjs")).stdout); } } });
`,
};

const CASES = [
  { name: "bubblewrap", needs: ["bubblewrap"], make: () => bubblewrap(), options: {} },
  { name: "docker", needs: ["docker"], make: dockerWithNode, options: IN_DOCKER },
] as const;

for (const { name, needs, make, options } of CASES) {
  describeWith([...needs], `an agent in ${name} with shared tests`, () => {
    it("cannot change, replace or remove them", async () => {
      const { printed, tests } = await attack(make(), "shared", [CHANGE_TESTS], options);
      expect(printed).toEqual(["begin", "end"]);
      expect(tests).toMatchObject(FAILED);
    });

    it("cannot answer in the place of the test server, where the results of the run are concerned", async () => {
      const { printed, tests } = await attack(make(), "shared", [POSE_AS_SERVER], options);
      expect(printed).toEqual(["posing"]);
      expect(tests).toMatchObject(FAILED);
    });

    it.each(["shared", "strict"] as const)(
      "forges no results by its code that %s tests run",
      async (isolation) => {
        const { tests } = await attack(
          make(),
          isolation,
          [{ commit: "Work", files: { "work.mjs": FORGE } }],
          { ...options, environment: { path: environmentFolder(FORGED), isolation } },
        );
        expect(tests).toMatchObject({ passed: 0, failed: 1, error: null, tests: [{ message: "tried" }] });
      },
    );

    it("plants no programs and settings that the tests are run with", async () => {
      const { printed, tests } = await attack(make(), "shared", [PLANT], options);
      expect(printed).toEqual(["planted"]);
      expect(tests).toMatchObject(FAILED);
    });
  });
}

const STRICT = [
  { name: "test-isolated", needs: [], make: () => testIsolated(), options: {} },
  ...CASES,
] as const;

for (const { name, needs, make, options } of STRICT) {
  describeWith([...needs], `an agent in ${name} with strict tests`, () => {
    it("does not find them, not even to read", async () => {
      const look = shell(
        `echo begin
for place in /sanddune "$(dirname "$PWD")"; do
  find "$place" -name environment.mjs -o -name answer.txt 2>/dev/null
  grep -rls 'the hidden answer' "$place" 2>/dev/null
done
echo end`,
      );
      const { printed, tests } = await attack(make(), "strict", [look], options);
      expect(printed).toEqual(["begin", "end"]);
      expect(tests).toMatchObject(FAILED);
    });

    it("is told by what it has committed, whatever the commit says about archives", async () => {
      const { tests } = await attack(
        make(),
        "strict",
        [
          {
            commit: "Hide what is wrong",
            files: { "hello.txt": "wrong\n", ".gitattributes": "hello.txt export-ignore\n* export-subst\n" },
          },
          shell("echo hello > hello.txt"),
        ],
        options,
      );
      expect(tests).toMatchObject({
        passed: 1,
        failed: 1,
        tests: [{ passed: true }, { message: expect.stringContaining("wrong") }],
      });
    });

    it("does not pass by its code changing, in one test, what the next one compares with", async () => {
      const path = environmentFolder({
        "expected.txt": "right\n",
        "environment.mjs": `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineEnvironment } from "sanddune/environment";
export default defineEnvironment({ concurrency: 1, tests: {
  first: async ({ run }) => assert.equal((await run("sh ./work.sh")).exitCode, 0),
  second: async ({ run, directory }) =>
    assert.equal((await run("cat answer.txt")).stdout, readFileSync(join(directory, "expected.txt"), "utf8")),
} });
`,
      });
      const work = 'cp answer.txt "$SANDDUNE_ENVIRONMENT/expected.txt" 2>/dev/null; exit 0\n';
      const files = { "work.sh": work, "answer.txt": "wrong\n" };
      const { tests } = await attack(make(), "strict", [{ commit: "Work", files }], {
        ...options,
        environment: { path, isolation: "strict" },
      });
      expect(tests?.total).toBe(2);
      expect(tests !== undefined && allPassed(tests)).toBe(false);
    });

    it("leaves nothing behind by its code that tests have run, for those that run later", async () => {
      const poison = `for place in "$SANDDUNE_ENVIRONMENT" "$SANDDUNE_SCRATCH" "$HOME"; do
  find "$place" -name 'environment.mjs' 2>/dev/null | while read -r file; do
    echo 'export default { tests: { right: () => {} } };' >"$file"
  done
  echo poisoned >"$place/poisoned" 2>/dev/null
done
echo wrong
`;
      const path = environmentFolder({
        "setup.sh": '[ ! -e "$SANDDUNE_SCRATCH/poisoned" ]\n',
        "environment.mjs": `import { existsSync } from "node:fs";
import { defineEnvironment } from "sanddune/environment";
export default defineEnvironment({ tests: { right: async ({ run, directory, scratch }) => {
  const poisoned = [directory, scratch, process.env.HOME].filter((place) => existsSync(place + "/poisoned"));
  const { stdout } = await run("sh ./work.sh");
  throw new Error(stdout.trim() + ", found: " + poisoned);
} } });
`,
      });
      const { results } = await attack(make(), "strict", [{ commit: "Work", files: { "work.sh": poison } }], {
        ...options,
        environment: { path, isolation: "strict" },
        ...{ maxIterations: 3, until: "tests-pass" },
      });
      expect(results).toHaveLength(3);
      for (const { failed, tests } of results) {
        expect(failed).toBe(1);
        expect(tests[0]?.message).toMatch(/^wrong, found:$/m);
      }
    });
  });
}
