import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type AgentIteration,
  type RunOptions,
  type RunResult,
  run,
  type SandboxProvider,
  type ScriptedStep,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { environmentFolder, greetingEnvironment } from "../../helpers/environments.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { NODE_PATH, nodeMount } from "../../helpers/runtimes/nodeMount.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { describeInBoth, SANDBOXES, shell } from "../support.ts";

const attempt = (
  sandbox: SandboxProvider,
  agent: Parameters<typeof scripted>[0],
  options: Partial<RunOptions> = {},
): Promise<RunResult> =>
  run({
    agent: scripted(agent),
    sandbox,
    cwd: temporaryRepository(),
    branchStrategy: { type: "branch", branch: "agent/attempt" },
    prompt: "Greet.",
    environment: { path: greetingEnvironment(), isolation: "shared" },
    until: "tests-pass",
    ...options,
  } as RunOptions);

/** A test for each file that has to be in the work, with what it has to say. */
const filesEnvironment = (expected: Readonly<Record<string, string>>): string =>
  environmentFolder({
    "environment.mjs": `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { defineEnvironment } from "@missingstudio/sanddune/environment";
const expected = ${JSON.stringify(expected)};
export default defineEnvironment({
  tests: Object.fromEntries(
    Object.entries(expected).map(([path, text]) => [
      path.replaceAll(".", "-"),
      ({ worktree }) => assert.equal(readFileSync(worktree + "/" + path, "utf8"), text),
    ]),
  ),
});
`,
  });

describeInBoth("what is graded is what lands:", (name) => {
  it("a file that is not committed, or that git ignores, solves nothing, and the agent is told why", async () => {
    const prompts: string[] = [];
    const hidden: ScriptedStep[] = [
      { commit: "Ignore the greeting", files: { ".gitignore": "hello.txt\n" } },
      shell("echo hello >hello.txt"),
    ];
    const { solved, iterations } = await attempt(
      SANDBOXES[name](),
      ({ prompt, iteration }: AgentIteration) => {
        prompts.push(prompt);
        return iteration === 1 ? [shell("echo hello >hello.txt")] : hidden;
      },
      { maxIterations: 2 },
    );
    expect(iterations).toMatchObject([{ tests: { passed: 0 } }, { tests: { passed: 0 } }]);
    expect(solved).toBe(false);
    expect(prompts[1]).toContain("uncommitted and ignored files were not tested");
  });

  it("the work is tested with the user's copies and with what the hooks make of the commit, whatever the agent has made of them", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".gitignore"), "/vendor/\n/built.txt\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Ignore");
    mkdirSync(join(cwd, "vendor/deep"), { recursive: true });
    writeFileSync(join(cwd, "vendor/deep/library.txt"), "genuine\n");
    writeFileSync(join(cwd, "vendor/settings.txt"), "the user's\n");
    const { iterations, solved } = await attempt(
      SANDBOXES[name](),
      [
        shell("echo committed >vendor/settings.txt && git add --force vendor/settings.txt"),
        { commit: "Work", files: { "source.txt": "source\n" } },
        shell("echo forged >vendor/deep/library.txt; echo forged >built.txt; echo forged >vendor/more.txt"),
      ],
      {
        cwd,
        copyToWorktree: ["vendor"],
        hooks: {
          sandbox: {
            onSandboxReady: [{ command: "cat source.txt vendor/deep/library.txt >built.txt 2>&1 || :" }],
          },
        },
        environment: {
          path: filesEnvironment({
            "vendor/deep/library.txt": "genuine\n",
            "vendor/settings.txt": "committed\n",
            "built.txt": "source\ngenuine\n",
          }),
          isolation: "shared",
        },
      },
    );
    expect(iterations).toMatchObject([{ tests: { passed: 3, error: null } }]);
    expect(solved).toBe(true);
  });

  it("a hook that fails on the commit leaves no results, but the reason", async () => {
    const { iterations, solved } = await attempt(
      SANDBOXES[name](),
      [{ commit: "Break it", files: { "hello.txt": "hello\n", broken: "" } }],
      {
        hooks: {
          sandbox: { onSandboxReady: [{ command: "if [ -e broken ]; then echo no manifest; exit 4; fi" }] },
        },
      },
    );
    expect(iterations).toMatchObject([
      { tests: { total: 0, error: expect.stringMatching(/exit code 4.*no manifest/s) } },
    ]);
    expect(solved).toBe(false);
  });
});

/** Waits for the program that judges, takes the key that it is sent, and says in its place that everything passes. */
const FORGER = `import { createHmac } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
const result = { path: "", passed: 2, failed: 0, total: 2, tests: [], error: null };
const attempt = (act) => { try { return act(); } catch { return undefined; } };
const isJudge = (pid) => / \\S*tool\\.js run /.test(readFileSync("/proc/" + pid + "/cmdline", "utf8").split("\\0").join(" "));
const forge = (pid) => {
  const input = openSync("/proc/" + pid + "/fd/0", "r");
  const bytes = Buffer.alloc(1000);
  const key = bytes.subarray(0, readSync(input, bytes)).toString().split("\\n")[0];
  closeSync(input);
  const text = JSON.stringify({ type: "result", result });
  const seal = createHmac("sha256", key).update(text).digest("hex");
  attempt(() => writeFileSync("/proc/" + pid + "/fd/1", seal + " " + text + "\\n"));
};
const pause = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  for (const pid of readdirSync("/proc").filter((name) => Number(name) > 0))
    if (attempt(() => isJudge(pid))) attempt(() => forge(pid));
  Atomics.wait(pause, 0, 0, 3);
}
`;

const LEAVE_BEHIND = "(setsid node ./forger.mjs >/dev/null 2>&1 </dev/null &)";

const PLACES = [
  { name: "bubblewrap", make: () => bubblewrap(), options: {} },
  {
    name: "docker",
    make: () => docker({ imageName: TEST_IMAGE, mounts: [nodeMount()] }),
    options: { env: { PATH: { public: NODE_PATH } } },
  },
] as const;

describeSideBySide("the judge is out of the agent's reach", () => {
  for (const { name, make, options } of PLACES) {
    describeWith([name], `in ${name}`, () => {
      it("a process that the agent has left behind does not get at its key", async () => {
        const work: ScriptedStep = { commit: "Work", files: { "forger.mjs": FORGER } };
        const { iterations, solved } = await attempt(
          make(),
          ({ iteration }) => (iteration === 1 ? [work, shell(LEAVE_BEHIND)] : []),
          // The sandbox of the agent stays for the second one.
          { ...options, maxIterations: 2 },
        );
        const untouched = { tests: { passed: 0, total: 2, error: null } };
        expect(iterations).toMatchObject([untouched, untouched]);
        expect(solved).toBe(false);
      });

      it("nor does what a hook runs of the commit, and leaves behind beside the judge", async () => {
        const files = { "forger.mjs": FORGER, "install.sh": LEAVE_BEHIND };
        const { iterations, solved } = await attempt(make(), [{ commit: "Work", files }], {
          ...options,
          hooks: { sandbox: { onSandboxReady: [{ command: "! [ -e install.sh ] || sh ./install.sh" }] } },
        });
        expect(iterations).toMatchObject([{ tests: { passed: 0, total: 2, error: null } }]);
        expect(solved).toBe(false);
      });

      it("nor does it share its files, its temporary files or its shared memory with the agent", async () => {
        const path = environmentFolder({
          "environment.mjs": `import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { defineEnvironment } from "@missingstudio/sanddune/environment";
export default defineEnvironment({
  tests: {
    clean: ({ worktree, scratch }) => {
      const places = ["/tmp", "/dev/shm", process.env.HOME, scratch, worktree, worktree + "/.."];
      assert.deepEqual(places.filter((place) => existsSync(place + "/left-behind")), []);
    },
  },
});
`,
        });
        const leave = shell(
          `for place in /tmp /dev/shm "$HOME" "$HOME/sanddune-scratch" . ..; do echo x >"$place/left-behind"; done; echo left`,
        );
        const { iterations } = await attempt(make(), [{ commit: "Work", files: { a: "" } }, leave], {
          ...options,
          environment: { path, isolation: "shared" },
        });
        expect(iterations).toMatchObject([{ tests: { passed: 1, total: 1, error: null } }]);
      });
    });
  }
});
