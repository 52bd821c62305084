import assert from "node:assert/strict";
import { SandboxError } from "../../errors.ts";
import { type CaseDefinition, HANG_MS } from "./conformanceCase.ts";

const TORTURE = [
  "a b",
  `c"d`,
  "e\\f",
  "it's",
  "$HOME",
  "$(id)",
  "`id`",
  "*",
  "new\nline",
  "-n",
  "!",
  "ünï☃",
  "\t",
];
const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;

/** Commands, and how they end. */
export const commandCases: readonly CaseDefinition[] = [
  {
    name: "exit codes are passed on",
    makesNoFiles: true,
    check: async (sandbox) => {
      for (const code of [0, 1, 42, 255]) {
        assert.equal((await sandbox.exec(`exit ${code}`)).exitCode, code);
      }
    },
  },
  {
    name: "a missing program is exit code 127, not a lost sandbox",
    makesNoFiles: true,
    check: async (sandbox) => {
      const result = await sandbox.exec("no-such-program-anywhere");
      assert.equal(result.exitCode, 127);
      assert.match(result.stderr, /no-such-program-anywhere/);
    },
  },
  {
    name: "death by signal is 128 + n",
    makesNoFiles: true,
    check: async (sandbox) => {
      assert.equal((await sandbox.exec("kill -9 $$")).exitCode, 137);
      assert.equal((await sandbox.exec("kill -TERM $$")).exitCode, 143);
    },
  },
  {
    name: "a command that signals its whole process group fails, and the sandbox lives on",
    makesNoFiles: true,
    check: async (sandbox) => {
      assert.equal((await sandbox.exec("kill -TERM 0; sleep 1000", { timeoutMs: HANG_MS })).exitCode, 143);
      assert.equal((await sandbox.exec("kill -9 0; sleep 1000", { timeoutMs: HANG_MS })).exitCode, 137);
      assert.equal((await sandbox.exec("echo here")).stdout, "here\n");
    },
  },
  {
    name: "quoting reaches the shell as it was written",
    makesNoFiles: true,
    check: async (sandbox) => {
      const result = await sandbox.exec(`printf '%s|' ${TORTURE.map(quoted).join(" ")}`);
      assert.equal(result.stdout, TORTURE.map((word) => `${word}|`).join(""));
    },
  },
  {
    name: "a command may have many lines, and begin with a dash",
    makesNoFiles: true,
    check: async (sandbox) => {
      const result = await sandbox.exec("for word in one two; do\n  echo $word\ndone\ncat <<END\nthree\nEND");
      assert.equal(result.stdout, "one\ntwo\nthree\n");
      assert.equal((await sandbox.exec("-n true")).exitCode, 127);
    },
  },
  {
    name: "a command of 100 KB runs, one of 200 KB is refused",
    makesNoFiles: true,
    check: async (sandbox) => {
      const text = "x".repeat(100 * 1024);
      assert.equal((await sandbox.exec(`: ${text}; echo done`)).stdout, "done\n");
      await assert.rejects(sandbox.exec(`: ${text}${text}`), SandboxError);
    },
  },
  {
    name: "commands start in the worktree, or in cwd",
    check: async (sandbox) => {
      assert.equal((await sandbox.exec("pwd -P")).stdout, `${sandbox.worktreePath}\n`);
      assert.equal((await sandbox.exec("pwd", { cwd: "/" })).stdout, "/\n");
      const odd = `${sandbox.worktreePath}/odd 'name'\n$(x)`;
      await sandbox.exec(`mkdir ${quoted(odd)}`);
      assert.equal((await sandbox.exec("pwd", { cwd: odd })).stdout, `${odd}\n`);
    },
  },
  {
    name: "a missing cwd is a failed command, not a lost sandbox",
    check: async (sandbox) => {
      const result = await sandbox.exec("touch should-not-exist", { cwd: "/no/such/directory" });
      assert.notEqual(result.exitCode, 0);
      assert.match(result.stderr, /no\/such\/directory/);
      assert.notEqual((await sandbox.exec("ls should-not-exist")).exitCode, 0);
    },
  },
  {
    name: "sudo means root, or is refused",
    makesNoFiles: true,
    check: async (sandbox) => {
      const attempt = sandbox.exec("id -u", { sudo: true });
      await attempt.then(
        (result) => assert.equal(result.stdout, "0\n"),
        (error) => assert.ok(error instanceof SandboxError),
      );
    },
  },
  {
    name: "twenty commands at once keep their outputs apart",
    makesNoFiles: true,
    check: async (sandbox) => {
      const numbers = Array.from({ length: 20 }, (_, index) => index);
      const results = await Promise.all(
        numbers.map((number) => sandbox.exec(`echo out ${number}; echo err ${number} >&2; exit ${number}`)),
      );
      const expected = numbers.map((number) => ({
        stdout: `out ${number}\n`,
        stderr: `err ${number}\n`,
        exitCode: number,
      }));
      assert.deepEqual(results, expected);
    },
  },
];
