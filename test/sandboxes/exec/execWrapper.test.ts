import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import {
  checkExecRequest,
  execArguments,
  execPreamble,
  MAX_COMMAND_BYTES,
} from "../../../src/sandboxes/exec/execWrapper.ts";

const ID = "feedfacefeedfacefeedfacefeedface";
const MARKER = "0123456789abcdef0123456789abcdef";
const shells = ["dash", "bash", "busybox"].filter(
  (shell) => spawnSync(shell, ["-c", ":"]).error === undefined,
);

const runWrapper = (
  shell: string,
  preamble: Partial<Parameters<typeof execPreamble>[0]>,
  input = "",
  cut = false,
) => {
  const [, assignment = "", , ...args] = execArguments(ID);
  const bytes = execPreamble({
    id: ID,
    markerId: MARKER,
    command: "true",
    cwd: "/",
    env: {},
    fallbackHome: "/tmp",
    ...preamble,
  });
  const [name, value] = assignment.split("=") as [string, string];
  return spawnSync(shell, shell === "busybox" ? ["sh", ...args] : args, {
    env: { PATH: process.env["PATH"], HOME: "/tmp", [name]: value },
    input: Buffer.concat([cut ? bytes.subarray(0, -5) : bytes, Buffer.from(input)]),
    encoding: "utf8",
  });
};

test.each(shells)("%s: the rest of standard input is the command's", (shell) => {
  const result = runWrapper(shell, { command: "cat; exit 3" }, "first\nsecond without end");
  expect(result.stdout).toBe(`first\nsecond without end\x1e${MARKER}:3\x1e`);
  expect(result.stderr).toBe(`\x1e${MARKER}:3\x1e`);
});

test.each(shells)("%s: values arrive unchanged and are not in the wrapper's arguments", (shell) => {
  const env = { A: "one\ntwo\n", B: "'\"$(echo no)`echo no`\\", C: "", D: ID };
  const result = runWrapper(shell, { env, command: 'printf "%s|" "$A" "$B" "$C" "$D"' });
  expect(result.stdout).toBe(`${Object.values(env).join("|")}|\x1e${MARKER}:0\x1e`);
  expect(execArguments(ID).join(" ")).not.toContain("echo no");
});

test.each(shells)("%s: a name that the shell keeps read-only does not stop the command", (shell) => {
  expect(runWrapper(shell, { env: { UID: "5", AFTER: "kept" }, command: "echo $AFTER" }).stdout).toContain(
    "kept",
  );
});

test.each(shells)("%s: nothing runs when the preamble is cut off", (shell) => {
  const result = runWrapper(shell, { command: "echo ran" }, "", true);
  expect(result).toMatchObject({ stdout: "", status: 125 });
});

test.each(shells)("%s: signals have their default action in the command", (shell) => {
  const ignored = runWrapper(shell, { command: "grep SigIgn /proc/self/status" }).stdout.match(
    /SigIgn:\s+(\w+)/,
  );
  expect(Number.parseInt(ignored?.[1] ?? "f", 16) & 0x7fff).toBe(0);
});

test("what cannot be passed on is refused, and values are not shown", () => {
  const request = { command: "true", cwd: "/", env: {} as Record<string, string> };
  const refusals = [
    { ...request, command: "x".repeat(MAX_COMMAND_BYTES + 1) },
    { ...request, command: "a\0b" },
    { ...request, cwd: "relative" },
    { ...request, env: { "NOT-A-NAME": "secret" } },
    { ...request, env: { "A=$(id)": "secret" } },
    { ...request, env: { SANDDUNE_EXEC_ID: "secret" } },
    { ...request, env: { NUL: "secret\0" } },
  ];
  for (const refused of refusals) {
    const check = () => checkExecRequest("test", refused);
    expect(check).toThrow(SandboxError);
    expect(check).not.toThrow(/secret/);
  }
  expect(() => checkExecRequest("test", request)).not.toThrow();
});
