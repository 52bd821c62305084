import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { EXEC_ID_VARIABLE } from "../../../src/process/kill/processMarks.ts";
import { killInSandbox } from "../../../src/sandboxes/exec/killInSandbox.ts";
import type { SandboxAccess } from "../../../src/sandboxes/exec/sandboxAccess.ts";

const EXEC_ID = "0123456789abcdef0123456789abcdef";

/** The host's own processes, and as whom they were asked for. */
const onHost = () => {
  const asRoot: boolean[] = [];
  const launch: SandboxAccess["launch"] = ([program = "", ...args], { sudo }) => {
    asRoot.push(sudo);
    return { program, args };
  };
  return { launch, asRoot };
};

it("kills what carries the exec id, and nothing else", async () => {
  const start = (id: string) =>
    spawn("sleep", ["1000"], { env: { ...process.env, [EXEC_ID_VARIABLE]: id }, stdio: "ignore" });
  const [victim, bystander] = [start(EXEC_ID), start("f".repeat(32))];
  const { launch, asRoot } = onHost();
  try {
    const death = once(victim, "exit");
    await killInSandbox(launch, { ownsProcessNamespace: false })(EXEC_ID, { sudo: false });
    expect(await death).toEqual([null, "SIGKILL"]);
    expect(bystander.exitCode).toBeNull();
    expect(bystander.signalCode).toBeNull();
    expect(asRoot).toEqual([false]);
  } finally {
    bystander.kill("SIGKILL");
  }
});

it("kills as root and as the user where the command ran as root, which can have become the user", async () => {
  const { launch, asRoot } = onHost();
  await killInSandbox(launch, { ownsProcessNamespace: false })(EXEC_ID, { sudo: true });
  expect(asRoot.sort()).toEqual([false, true]);
});

it.each<[string, SandboxAccess["launch"]]>([
  ["is gone", () => ({ call: () => Promise.reject(new Error("gone")) })],
  ["cannot be started anything in", () => ({ program: "no-such-program-anywhere", args: [] })],
])("does not reject when the sandbox %s", async (_, launch) => {
  await expect(
    killInSandbox(launch, { ownsProcessNamespace: true })(EXEC_ID, { sudo: true }),
  ).resolves.toBeUndefined();
});
