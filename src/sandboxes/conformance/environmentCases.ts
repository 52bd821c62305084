import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { hostSystem } from "../../process/host/system.ts";
import { type CaseDefinition, HANG_MS, inputAfter, moment } from "./conformanceCase.ts";

const VALUES = {
  PLAIN: "value",
  EMPTY: "",
  SPACES: "  a  b  ",
  NEWLINES: "one\ntwo\n\nthree\n",
  QUOTES: `'"'"'\\`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is meant for the shell
  SHELL: "$(echo no) `echo no` $HOME ${HOME} ; echo no & | < >",
  UNICODE: "ünï☃\u2028😀",
  CONTROL: "\t\r\x1b[31m\x1e",
  ASSIGNMENT: "A=B=C",
};

/** Whether any process that the host sees has the text in its arguments. */
const isOnAnArgvOfTheHost = (text: string): boolean =>
  hostSystem()
    .commandLines()
    .some((line) => line.includes(text));

const withHostVariable = async (use: (value: string) => Promise<void>): Promise<void> => {
  const value = randomBytes(16).toString("hex");
  process.env["SANDDUNE_CONFORMANCE"] = value;
  try {
    await use(value);
  } finally {
    delete process.env["SANDDUNE_CONFORMANCE"];
  }
};

/** Environment variables, PATH and HOME. */
export const environmentCases: readonly CaseDefinition[] = [
  {
    name: "environment values arrive unchanged, whatever they hold",
    makesNoFiles: true,
    check: async (sandbox) => {
      const names = Object.keys(VALUES);
      const result = await sandbox.exec(`printf '%s\\001' ${names.map((name) => `"$${name}"`).join(" ")}`, {
        env: VALUES,
      });
      assert.deepEqual(result.stdout.split("\x01").slice(0, -1), Object.values(VALUES));
    },
  },
  {
    name: "environment values stay with their command",
    makesNoFiles: true,
    check: async (sandbox) => {
      await sandbox.exec("true", { env: { ONLY_HERE: "value" } });
      assert.equal((await sandbox.exec("env | grep -c ONLY_HERE")).stdout, "0\n");
    },
  },
  {
    name: "environment values are on no argv, in the sandbox or on the host",
    makesNoFiles: true,
    check: async (sandbox) => {
      const SECRET = randomBytes(16).toString("hex");
      const running = moment();
      let isOnHost = false;
      const command = `printf %s "$SECRET" | grep -lsF -f - /proc/[0-9]*/cmdline; echo running; read -r answer`;
      const result = await sandbox.exec(command, {
        env: { SECRET },
        stdin: inputAfter(
          running.reached.then(async () => {
            isOnHost = isOnAnArgvOfTheHost(SECRET);
          }),
          "answer\n",
        ),
        timeoutMs: HANG_MS,
        onLine: (line) => line === "running" && running.reach(),
      });
      assert.equal(result.stdout, "running\n");
      assert.equal(isOnHost, false);
    },
  },
  {
    name: "the host's environment stays on the host",
    makesNoFiles: true,
    check: (sandbox) =>
      withHostVariable(async (value) => {
        assert.ok(!(await sandbox.exec("env")).stdout.includes(value));
      }),
  },
  {
    name: "the host's environment cannot be read from other processes in the sandbox",
    makesNoFiles: true,
    appliesTo: (traits) => traits.ownsProcessNamespace !== false,
    check: (sandbox) =>
      withHostVariable(async (value) => {
        const result = await sandbox.exec("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'");
        assert.ok(!result.stdout.includes(value));
      }),
  },
  {
    name: "HOME is a directory that can be written to, and PATH finds programs",
    check: async (sandbox) => {
      const result = await sandbox.exec('cd && [ "$(pwd)" != / ] && touch "$HOME/.probe" && ls -a "$HOME"');
      assert.equal(result.exitCode, 0, result.stderr);
      assert.match(result.stdout, /\.probe/);
    },
  },
  {
    name: "files stay from one command to the next, in the worktree, in HOME and in /tmp",
    check: async (sandbox) => {
      const made = await sandbox.exec('echo kept | tee file "$HOME/file" >/dev/null; mktemp');
      const again = await sandbox.exec('cat file "$HOME/file"; ls "$FILE"', {
        env: { FILE: made.stdout.trim() },
      });
      assert.equal(again.stdout, `kept\nkept\n${made.stdout}`);
    },
  },
];
