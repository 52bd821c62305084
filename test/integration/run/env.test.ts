import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { command, type EnvVars, type RunOptions, run } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../../cli/fixtures.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

const SANDBOXES: [string, Runtime[], (env?: EnvVars) => SandboxProvider][] = [
  ["docker", ["docker"], (env = {}) => docker({ imageName: TEST_IMAGE, env })],
  ["bubblewrap", ["bubblewrap"], (env = {}) => bubblewrap({ env })],
  ["test-isolated", [], (env = {}) => testIsolated({ env })],
];

const LAYERS = ["ON_HOST", "IN_FILE", "OF_SANDBOX", "OF_AGENT", "OF_RUN"] as const;

afterEach(() => {
  for (const name of [...LAYERS, "NOT_DECLARED"]) delete process.env[name];
});

const writeEnvFile = (cwd: string, text: string): void => {
  mkdirSync(join(cwd, ".sanddune"), { recursive: true });
  writeFileSync(join(cwd, ".sanddune/.env"), text);
};

/** Tells every variable that a layer could supply. */
const REPORT = `for name in ${[...LAYERS, "NOT_DECLARED"].join(" ")}; do eval "printf '%s ' \\"\\\${$name-unset}\\""; done`;

/** Hard to bring through a shell, or through anything else. */
const VALUES: Readonly<Record<string, string>> = {
  LINES: "one\ntwo\r\n\n three\n",
  QUOTES: `'"\`'"'"'\\'\\"`,
  SHELL_CODE: "$(exit 7) `id` ; exit 9 # $HOME %s \\n",
  OTHER_ALPHABETS: "grün 😀 \u2028 日本",
  CONTROL: "\u0001\u001b[31m\u007f\t\b",
  DASH: "-n",
  EMPTY: "",
  SPACES: "  x  ",
  LARGE: `${"a'b\n".repeat(25 * 1024)}end`,
};

it.each([
  [0o644, true],
  [0o640, true],
  [0o602, true],
  [0o600, false],
  [0o400, false],
])(
  "an env file of mode %o that others can get at is a warning with the command to close it: %s",
  async (mode, isOpen) => {
    const cwd = temporaryRepository();
    writeEnvFile(cwd, "KEY=value\n");
    const path = join(cwd, ".sanddune/.env");
    chmodSync(path, mode);
    const { warnings } = await run({
      agent: command("true"),
      sandbox: testIsolated(),
      cwd,
      branchStrategy: { type: "branch", branch: "x" },
      prompt: "x",
    });
    const warning = `Other accounts of this machine can read or change .sanddune/.env, which contains secrets: chmod 600 ${path}`;
    expect(warnings).toEqual(isOpen ? [warning] : []);
  },
);

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `env vars in the ${name} sandbox`, () => {
    it("the agent, sandbox hooks and shell expressions get the value of the strongest layer; what functions and commands say arrives, whatever it holds", async () => {
      const cwd = temporaryRepository();
      for (const key of [...LAYERS, "NOT_DECLARED"]) process.env[key] = "value-of-host";
      writeEnvFile(cwd, "ON_HOST=\nIN_FILE=value-of-file\nOF_SANDBOX=weak\nOF_AGENT=weak\nOF_RUN=weak\n");
      const promptFile = join(cwd, "prompt.md");
      writeFileSync(promptFile, `!\`${REPORT}\``);
      const write = Object.keys(VALUES).map((key) => `printf '%s|' "$${key}" > ${key}.txt`);
      const agent = [
        "cat > prompt.txt",
        `(${REPORT}) > agent.txt`,
        `printf '%s|' "$A" "$B" "$C" "\${D-unset}" > said.txt`,
        ...write,
        "git add . && git commit --quiet -m Report",
      ].join("\n");
      await run({
        ...{ sandbox: sandbox({ OF_SANDBOX: "value-of-sandbox" }), cwd, promptFile },
        branchStrategy: { type: "branch", branch: "agent/work" },
        agent: command(agent, { env: { OF_AGENT: "value-of-agent", OF_RUN: "weak" } }),
        env: {
          OF_RUN: "value-of-run",
          A: async () => "later",
          B: { command: "printf 'two\\nlines\\n\\n'" },
          C: { public: "for everybody" },
          D: undefined,
          ...VALUES,
        },
        hooks: { sandbox: { onSandboxReady: [{ command: `(${REPORT}) > hook.txt` }] } },
      });

      const shown = (file: string): string => git(cwd, "show", `agent/work:${file}`);
      const expected = "value-of-host value-of-file value-of-sandbox value-of-agent value-of-run unset";
      for (const file of ["agent.txt", "hook.txt", "prompt.txt"]) expect(shown(file)).toBe(expected);
      expect(shown("said.txt")).toBe("later|two\nlines|for everybody|unset|");
      const arrived = Object.keys(VALUES).map((key) => [key, shown(`${key}.txt`).slice(0, -1)]);
      expect(Object.fromEntries(arrived)).toEqual(VALUES);
    });
  });
}

const start = (cwd: string, options: Partial<RunOptions>) =>
  run({ agent: command("true"), sandbox: testIsolated(), cwd, prompt: "Work", ...options } as RunOptions);

const failureOf = (running: Promise<unknown>) =>
  running.then(
    () => expect.fail("the run succeeded"),
    (error) => error,
  );

describe("functions and commands are asked", () => {
  it("once for each run, however many iterations, hooks and expressions it has, before anything is created; a key that is nowhere set is reported", async () => {
    const cwd = temporaryRepository();
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "prompt.md"), '!`echo "$A"` !`echo "$B"`');
    let asked = 0;
    const A = () => {
      expectUntouched(cwd);
      return `answer ${++asked}`;
    };
    const result = await run({
      agent: command("cat; printenv NOWHERE_SET || echo unset"),
      sandbox: testIsolated(),
      cwd,
      promptFile: join(directory, "prompt.md"),
      maxIterations: 2,
      hooks: { sandbox: { onSandboxReady: [{ command: "true" }, { command: "true" }] } },
      env: { A, B: { command: `echo asked | tee -a ${directory}/asked` }, NOWHERE_SET: undefined },
    });
    expect(result.iterations).toHaveLength(2);
    expect(asked).toBe(1);
    expect(readFileSync(join(directory, "asked"), "utf8")).toBe("asked\n");
    expect(result.stdout).toContain("unset\n");
    expect(result.warnings).toEqual([expect.stringContaining("NOWHERE_SET")]);
  });

  it("not at all if something else is wrong", async () => {
    const cwd = temporaryRepository();
    const env = { A: () => expect.fail("was asked") };
    const branchStrategy = { type: "branch", branch: "a..b" } as const;
    expect(await failureOf(start(cwd, { env, branchStrategy }))).toMatchObject({
      name: "InvalidBranchNameError",
    });
    expectUntouched(cwd);
  });
});

describe("nothing is created if", () => {
  it("a value is unavailable", async () => {
    const cwd = temporaryRepository();
    const env = { FINE: "fine", BROKEN: { command: "echo locked >&2; exit 3" } };
    expect(await failureOf(start(cwd, { env }))).toMatchObject({ name: "EnvValueError", key: "BROKEN" });
    expectUntouched(cwd);
  });

  it("the run is aborted while values are asked for", async () => {
    const cwd = temporaryRepository();
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const A = () => {
      controller.abort(reason);
      return new Promise<string>(() => {});
    };
    expect(await failureOf(start(cwd, { env: { A }, signal: controller.signal }))).toBe(reason);
    expectUntouched(cwd);
  });

  it("a key of the agent provider and of the sandbox provider is the same", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      start(cwd, {
        agent: command("true", { env: { KEY: "s3cret-of-agent" } }),
        sandbox: testIsolated({ env: { KEY: "s3cret-of-sandbox" } }),
        env: { KEY: () => expect.fail("was asked") },
      }),
    );
    expect(error).toMatchObject({ name: "EnvOverlapError", keys: ["KEY"] });
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain("s3cret");
    expectUntouched(cwd);
  });

  it("git tracks the env file", async () => {
    const cwd = temporaryRepository();
    writeEnvFile(cwd, "KEY=s3cret-value\n");
    git(cwd, "add", "--force", ".sanddune/.env");
    const error = await failureOf(start(cwd, {}));
    expect(error).toMatchObject({ name: "InvalidOptionsError", option: ".sanddune/.env" });
    expect(error.message).toContain("git rm --cached");
    expect(error.stack).not.toContain("s3cret-value");
    expect(existsSync(join(cwd, ".sanddune/runs"))).toBe(false);
  });
});
