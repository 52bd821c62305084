import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { command, type EnvVars, type RunOptions, run } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";

const SANDBOXES: [string, Runtime[], (env?: EnvVars) => SandboxProvider][] = [
  ["docker", ["docker"], (env = {}) => docker({ image: TEST_IMAGE, env })],
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

const COMMIT = "git add . && git commit --quiet -m Report";
/** Tells every variable that a layer could supply. */
const REPORT = `for name in ${[...LAYERS, "NOT_DECLARED"].join(" ")}; do eval "printf '%s ' \\"\\\${$name-unset}\\""; done`;

const runIn = (cwd: string, sandbox: SandboxProvider, options: Partial<RunOptions>) =>
  run({ sandbox, cwd, branchStrategy: { type: "branch", branch: "agent/work" }, ...options } as RunOptions);

const shown = (cwd: string, file: string): string => git(cwd, "show", `agent/work:${file}`);

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `env vars in the ${name} sandbox`, () => {
    it("the agent, sandbox hooks and shell expressions get the value of the strongest layer", async () => {
      const cwd = temporaryRepository();
      for (const key of [...LAYERS, "NOT_DECLARED"]) process.env[key] = "value-of-host";
      writeEnvFile(cwd, "ON_HOST=\nIN_FILE=value-of-file\nOF_SANDBOX=weak\nOF_AGENT=weak\nOF_RUN=weak\n");
      const promptFile = join(cwd, "prompt.md");
      writeFileSync(promptFile, `!\`${REPORT}\``);
      await runIn(cwd, sandbox({ OF_SANDBOX: "value-of-sandbox" }), {
        promptFile,
        agent: command(`cat > prompt.txt; (${REPORT}) > agent.txt; ${COMMIT}`, {
          env: { OF_AGENT: "value-of-agent", OF_RUN: "weak" },
        }),
        env: { OF_RUN: "value-of-run" },
        hooks: { sandbox: { onSandboxReady: [{ command: `(${REPORT}) > hook.txt` }] } },
      });

      const expected = "value-of-host value-of-file value-of-sandbox value-of-agent value-of-run unset";
      for (const file of ["agent.txt", "hook.txt", "prompt.txt"]) expect(shown(cwd, file)).toBe(expected);
    });

    it("values arrive as they are, whatever they hold", async () => {
      const values: Record<string, string> = {
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
      const cwd = temporaryRepository();
      const write = Object.keys(values).map((key) => `printf '%s|' "$${key}" > ${key}.txt`);
      await runIn(cwd, sandbox(), { prompt: "", agent: command([...write, COMMIT].join("\n")), env: values });
      const arrived = Object.keys(values).map((key) => [key, shown(cwd, `${key}.txt`).slice(0, -1)]);
      expect(Object.fromEntries(arrived)).toEqual(values);
    });

    it("what functions and commands say arrives, without the line ends of a command", async () => {
      const cwd = temporaryRepository();
      await runIn(cwd, sandbox(), {
        prompt: "",
        agent: command(`printf '%s|' "$A" "$B" "$C" "$D" "\${E-unset}" > said.txt; ${COMMIT}`),
        env: {
          A: () => "at once",
          B: async () => "later",
          C: { command: "printf 'two\\nlines\\n\\n'" },
          D: { public: "for everybody" },
          E: undefined,
        },
      });
      expect(shown(cwd, "said.txt")).toBe("at once|later|two\nlines|for everybody|unset|");
    });
  });
}
