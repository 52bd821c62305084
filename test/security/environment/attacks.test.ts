import { expect, it } from "vitest";
import {
  type AgentStreamEvent,
  type RunOptions,
  run,
  type SandboxProvider,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { environmentFolder } from "../../helpers/environments.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { NODE_PATH, nodeMount } from "../../helpers/runtimes/nodeMount.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { shell } from "../support.ts";

const IN_DOCKER = { env: { PATH: { public: NODE_PATH } } };
const dockerWithNode = () => docker({ imageName: TEST_IMAGE, mounts: [nodeMount()] });

/** Has an agent do its worst, and tells what its commands printed and what the tests say. */
const attack = async (
  sandbox: SandboxProvider,
  steps: Parameters<typeof scripted>[0],
  options: Partial<RunOptions>,
) => {
  const printed: string[] = [];
  const { iterations } = await run({
    agent: scripted(steps),
    sandbox,
    cwd: temporaryRepository(),
    branchStrategy: { type: "branch", branch: "agent/attack" },
    prompt: "Pass.",
    logging: {
      type: "file",
      onAgentStreamEvent: (event: AgentStreamEvent) => {
        if (event.type === "toolResult") printed.push(event.output);
      },
    },
    ...options,
  } as RunOptions);
  return { printed, results: iterations.flatMap(({ tests }) => tests ?? []) };
};

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
  `mkdir -p "$HOME/bin" node_modules/@missingstudio/sanddune .git/hooks 2>/dev/null
for name in node sh tar git; do printf '#!/bin/sh\\nexit 0\\n' >"$HOME/bin/$name"; chmod +x "$HOME/bin/$name"; done
cp "$HOME/bin/node" ./node
printf 'export NODE_OPTIONS=--require=/tmp/evil.cjs PATH=%s/bin:$PATH\\n' "$HOME" | tee "$HOME/.profile" "$HOME/.bashrc" >"$HOME/.env"
echo 'process.exit(0)' >/tmp/evil.cjs
echo planted`,
);

/**
 * Run by a test: prints results where the program that runs the tests does, and asks that for its debugger. A debugger of
 * its own, which it asks for later, tells when there would be one.
 */
const FORGE = `import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
const result = { path: "", passed: 1, failed: 0, total: 1, tests: [{ path: "right", passed: true, durationMs: 1 }], error: null };
const attempt = (act) => { try { return act(); } catch { return false; } };
const isTool = (pid) => / \\S*tool.js (run|worker|serve)/.test(readFileSync("/proc/" + pid + "/cmdline", "utf8").split("\\0").join(" "));
for (const pid of readdirSync("/proc").filter((name) => Number(name) > 0 && attempt(() => isTool(name)))) {
  attempt(() => writeFileSync("/proc/" + pid + "/fd/1", JSON.stringify({ type: "result", result }) + "\\n"));
  attempt(() => process.kill(Number(pid), "SIGUSR1"));
}
const own = spawn(process.execPath, ["--inspect-port=0", "-e", "console.log(1); setInterval(() => {}, 1000)"]);
await once(own.stdout, "data");
own.kill("SIGUSR1");
await once(own.stderr, "data");
own.kill("SIGKILL");
connect(9229, "127.0.0.1", () => { console.log("debugger"); process.exit(); }).on("error", () => console.log("tried"));
`;

/** A test that runs the agent's `work.mjs`. */
const FORGED = `forged: async ({ run }) => { throw new Error((await run("node work.mjs")).stdout); },`;

const CASES = [
  { name: "bubblewrap", needs: ["bubblewrap"], make: () => bubblewrap(), options: {}, forge: FORGE },
  { name: "docker", needs: ["docker"], make: dockerWithNode, options: IN_DOCKER, forge: FORGE },
] as const;

const describeShared = ({ name, needs, make, options, forge }: (typeof CASES)[number]): void => {
  describeWith([...needs], `an agent in ${name} with shared tests`, () => {
    it("cannot change, replace or remove them, cannot answer in the place of the test server, plants no programs and settings that the tests are run with, and forges no results by its code that they run", async () => {
      const path = environmentFolder({
        "environment.mjs": `import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineEnvironment } from "@missingstudio/sanddune/environment";
export default defineEnvironment({ tests: {
  greeting: ({ worktree }) => readFile(join(worktree, "hello.txt")),
  ${FORGED}
} });
`,
      });
      const work = { commit: "Work", files: { "work.mjs": forge } };
      const { printed, results } = await attack(make(), [work, CHANGE_TESTS, POSE_AS_SERVER, PLANT], {
        ...options,
        environment: { path, isolation: "shared" },
      });
      expect(printed).toEqual(["begin", "end", "posing", "planted"]);
      const tests = [{ path: "greeting" }, { path: "forged", message: "tried" }];
      expect(results).toMatchObject([{ passed: 0, failed: 2, total: 2, error: null, tests }]);
    });
  });
};

/** Changes what the next test compares with. */
const CHANGE_EXPECTED = `cp given.txt "$SANDDUNE_ENVIRONMENT/expected.txt" 2>/dev/null
exit 0
`;
/** Leaves something everywhere, for tests that run later. */
const POISON = `for place in "$SANDDUNE_ENVIRONMENT" "$SANDDUNE_SCRATCH" "$HOME"; do
  find "$place" -name environment.mjs 2>/dev/null | while read -r file; do
    echo 'export default { tests: { right: () => {} } };' >"$file"
  done
  echo poisoned >"$place/poisoned" 2>/dev/null
done
${CHANGE_EXPECTED}`;

const strictTests = (forge: string | undefined): string => `import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineEnvironment } from "@missingstudio/sanddune/environment";
export default defineEnvironment({ concurrency: 1, tests: {
  clean: ({ directory, scratch }) =>
    assert.deepEqual([directory, scratch, process.env.HOME].filter((place) => existsSync(place + "/poisoned")), []),
  committed: ({ worktree }) => assert.equal(readFileSync(join(worktree, "hello.txt"), "utf8"), "hello\\n"),
  changes: async ({ run }) => assert.equal((await run("sh ./work.sh")).exitCode, 0),
  compares: async ({ run, directory }) =>
    assert.equal((await run("cat given.txt")).stdout, readFileSync(join(directory, "expected.txt"), "utf8")),
  ${forge === undefined ? "" : FORGED}
} });
`;

const LOOK_FOR_TESTS = shell(
  `echo begin
for place in /sanddune "$(dirname "$PWD")"; do
  find "$place" -name environment.mjs -o -name answer.txt 2>/dev/null
  grep -rls 'the hidden answer' "$place" 2>/dev/null
done
echo end`,
);

/** Where the agent's code can change the tests, that is noticed; where it cannot, they fail. */
const NOTICED = [/environment\.mjs was changed/, /expected\.txt was changed/].map((words) => ({
  error: expect.stringMatching(words),
}));
const KEPT_OUT = Array(2).fill({
  error: null,
  tests: expect.arrayContaining([
    expect.objectContaining({ path: "compares", passed: false }),
    expect.objectContaining({ path: "forged", message: "tried" }),
  ]),
});

const STRICT = [
  { name: "test-isolated", needs: [], make: () => testIsolated(), options: {}, forge: undefined },
  ...CASES,
] as const;

const describeStrict = ({ name, needs, make, options, forge }: (typeof STRICT)[number]): void => {
  describeWith([...needs], `an agent in ${name} with strict tests`, () => {
    it("does not find them, not even to read; is told by what it has committed; does not pass by changing what the next test compares with; leaves nothing behind by its code that tests have run, for those that run later", async () => {
      const path = environmentFolder({
        "environment.mjs": strictTests(forge),
        "setup.sh": '[ ! -e "$SANDDUNE_SCRATCH/poisoned" ]\n',
        "answer.txt": "the hidden answer\n",
        "expected.txt": "right\n",
      });
      const files = {
        "hello.txt": "wrong\n",
        ".gitattributes": "hello.txt export-ignore\n* export-subst\n",
        "given.txt": "wrong\n",
        ...(forge !== undefined && { "work.mjs": forge }),
      };
      const work = (iteration: number) => (iteration === 1 ? POISON : CHANGE_EXPECTED);
      const { printed, results } = await attack(
        make(),
        ({ iteration }) => [
          LOOK_FOR_TESTS,
          { commit: "Hide what is wrong", files: { ...files, "work.sh": work(iteration) } },
          shell("echo hello > hello.txt"),
        ],
        {
          ...options,
          environment: { path, isolation: "strict" },
          ...{ maxIterations: 2, until: "tests-pass" },
        },
      );
      expect(printed).toEqual(["begin", "end", "begin", "end"]);
      expect(results).toMatchObject(forge === undefined ? NOTICED : KEPT_OUT);
      for (const { tests } of results) {
        expect(tests.slice(0, 3)).toMatchObject([
          { path: "clean", passed: true },
          { path: "committed", passed: false, message: expect.stringContaining("wrong") },
          { path: "changes", passed: true },
        ]);
      }
    });
  });
};

describeSideBySide("attacks on tests", () => {
  CASES.forEach(describeShared);
  STRICT.forEach(describeStrict);
});
