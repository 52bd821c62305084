import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SandboxError, SandboxLostError, SandboxUnavailableError } from "../../../src/errors.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { STATUS } from "../../helpers/cloud/modalFaults.ts";
import type { ServedSandbox } from "../../helpers/cloud/modalServer.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { newSandboxName } from "../openSandbox.ts";
import { modalServer, openModal } from "./scene.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

const failureOf = async (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    (result) => ({ resolvedWith: result }),
    (reason: unknown) => reason,
  );

const lossOf = async (attempt: Promise<unknown>): Promise<SandboxLostError> => {
  const error = await failureOf(attempt);
  expect(error).toBeInstanceOf(SandboxLostError);
  return error as SandboxLostError;
};

/** What runs in the sandbox of the server. */
const processesOf = ({ machine }: ServedSandbox): number[] =>
  processesWith(`HOME=${machine.home}\0`, "environ");

describe("what a Modal sandbox gets over", () => {
  it("streams that break are taken up again where they broke", async () => {
    const server = await modalServer();
    const { sandbox } = await openModal(server);
    server.breakStreamsAfter(100_000);
    const { stdout } = await sandbox.exec("seq 200000", { captureBytes: 10 * 1024 * 1024 });
    const expected = `${Array.from({ length: 200_000 }, (_, index) => index + 1).join("\n")}\n`;
    expect(sha256(stdout)).toBe(sha256(expected));
    expect(server.calls.filter((method) => method === "taskExecStdioRead").length).toBeGreaterThan(10);
  });

  it("a file that is copied out over streams that break is the same", async () => {
    const server = await modalServer();
    const { sandbox } = await openModal(server);
    await sandbox.exec("head -c 3000000 /dev/urandom >file");
    const { stdout } = await sandbox.exec("sha256sum <file");
    server.breakStreamsAfter(70_000);
    const path = `${temporaryDirectory()}/out`;
    await sandbox.copyFileOut(`${sandbox.worktreePath}/file`, path);
    expect(stdout).toContain(sha256(readFileSync(path)));
  });

  it("answers that get lost do not make a command run twice, nor its input arrive twice", async () => {
    const server = await modalServer();
    const { sandbox } = await openModal(server);
    server.loseAnswers("taskExecStart", 2);
    await sandbox.exec("echo ran >>file");
    expect((await sandbox.exec("cat file")).stdout).toBe("ran\n");
    server.loseAnswers("taskExecStdinWrite", 3);
    const input = randomBytes(1_500_000).toString("hex");
    const { stdout } = await sandbox.exec("sha256sum", { stdin: input });
    expect(stdout).toContain(sha256(input));
  });

  it.each([
    ["cannot be reached", STATUS.UNAVAILABLE],
    ["has too much to do", STATUS.RESOURCE_EXHAUSTED],
    ["fails", STATUS.INTERNAL],
  ])("a service that %s for a while", async (_, status) => {
    const server = await modalServer();
    const { sandbox } = await openModal(server);
    server.fail("taskExecStart", status, 3);
    expect(await sandbox.exec("exit 7")).toMatchObject({ exitCode: 7 });
  });

  it("a token that is no longer accepted", async () => {
    const server = await modalServer();
    const { sandbox } = await openModal(server);
    server.expireTokens();
    expect(await sandbox.exec("echo here")).toMatchObject({ stdout: "here\n" });
  });
});

describe("a Modal sandbox is lost", () => {
  it.each([
    ["terminated", /it was terminated/],
    ["timed out", /its lifetime of 240 minutes was over\. Give it longer: modal\(\{ lifetimeMs/],
    ["crashed", /its own process ended with exit code 1/],
  ] as const)("when it is %s, although everything seems to end well", async (how, says) => {
    const server = await modalServer();
    const { sandbox, served } = await openModal(server);
    const running = sandbox.exec("echo running; sleep 1000", { onLine: () => void server.end(served, how) });
    expect((await lossOf(running)).message).toMatch(says);
    expect((await lossOf(sandbox.exec("true"))).message).toMatch(says);
    await lossOf(sandbox.copyFileOut("/etc/hostname", `${temporaryDirectory()}/out`));
    await sandbox.close();
  });

  it("when it ends while no command runs, which is noticed all the same", async () => {
    const server = await modalServer();
    // Of a short life, Modal is asked more often whether it is over.
    const { sandbox, served } = await openModal(server, { lifetimeMs: 60_000 });
    await server.end(served, "terminated");
    await waitFor(() => server.calls.includes("sandboxWaitV2"));
    expect((await lossOf(sandbox.exec("true"))).message).toContain("it was terminated");
  });

  it("when the streams of a command are unavailable, and the command is killed", async () => {
    const server = await modalServer();
    const { sandbox, served } = await openModal(server);
    server.fail("taskExecStdioRead", STATUS.NOT_FOUND, 2);
    expect((await lossOf(sandbox.exec("sleep 1000"))).message).toMatch(/the connection to a .*command broke/);
    await waitFor(() => processesOf(served).length === 0);
  });

  it("when commands are refused again and again, without an exit code", async () => {
    const server = await modalServer();
    const { sandbox } = await openModal(server, { requestTimeoutMs: 4000 });
    server.fail("taskExecStart", STATUS.RESOURCE_EXHAUSTED, Number.POSITIVE_INFINITY);
    expect((await lossOf(sandbox.exec("true"))).message).toContain("not this time");
  });

  it("when input is refused in the middle: half of it is not taken for all", async () => {
    const server = await modalServer();
    const { sandbox, served } = await openModal(server);
    const input = async function* () {
      yield Buffer.from("first half");
      server.fail("taskExecStdinWrite", STATUS.RESOURCE_EXHAUSTED);
      yield Buffer.from("second half");
    };
    await lossOf(sandbox.exec("cat >got; echo 'took it for all' >>got", { stdin: input() }));
    await waitFor(() => processesOf(served).length === 0);
    expect((await sandbox.exec("cat got")).stdout).toBe("first half");
  });
});

describe("making a Modal sandbox", () => {
  it.each([
    "authTokenGet",
    "appGetOrCreate",
    "imageGetOrCreate",
    "sandboxCreateV2",
    "taskExecStart",
    "taskExecWait",
  ])("is aborted at %s with the identical reason, and leaves none behind", async (method) => {
    const server = await modalServer();
    const controller = new AbortController();
    const reason = { the: "identical reason" };
    server.onCall(method, () => controller.abort(reason));
    const attempt = modal().create({
      runId: "test-run",
      sandboxName: newSandboxName(),
      repositoryPath: "/",
      signal: controller.signal,
    });
    expect(await failureOf(attempt)).toBe(reason);
    expect(server.running()).toEqual([]);
  });

  it("does nothing at all for a signal that is aborted already", async () => {
    const server = await modalServer();
    const reason = new Error("too late");
    const attempt = modal().create({
      runId: "test-run",
      sandboxName: newSandboxName(),
      repositoryPath: "/",
      signal: AbortSignal.abort(reason),
    });
    expect(await failureOf(attempt)).toBe(reason);
    expect(server.calls).toEqual([]);
  });

  it("gets over an answer that was lost, and makes one sandbox", async () => {
    const server = await modalServer();
    server.loseAnswers("sandboxCreateV2", 2);
    await openModal(server);
    expect(server.sandboxes).toHaveLength(1);
  });

  it("leaves no sandbox behind of which it never heard", async () => {
    const server = await modalServer();
    server.loseAnswers("sandboxCreateV2", Number.POSITIVE_INFINITY);
    const attempt = openModal(server, { createTimeoutMs: 4000 });
    expect(await failureOf(attempt)).toBeInstanceOf(SandboxUnavailableError);
    expect(server.sandboxes.length).toBeGreaterThan(0);
    expect(server.running()).toEqual([]);
  });

  it("does not touch another run's sandbox of that name", async () => {
    const server = await modalServer();
    const sandboxName = newSandboxName();
    const create = (runId: string) => modal().create({ runId, sandboxName, repositoryPath: "/" });
    const first = await create("first");
    expect(await failureOf(create("second"))).toBeInstanceOf(SandboxError);
    expect(server.running()).toHaveLength(1);
    await first.close();
  });
});

describe("closing a Modal sandbox", () => {
  it("says what is left if it cannot be terminated", async () => {
    const server = await modalServer();
    const { sandbox, served } = await openModal(server);
    server.fail("sandboxTerminateV2", STATUS.INTERNAL, 4);
    const error = await failureOf(sandbox.close());
    expect(error).toBeInstanceOf(SandboxError);
    expect((error as Error).message).toContain(`the sandbox ${served.id} could not be terminated`);
    expect(server.running()).toEqual([served]);
  });

  it("has nothing to complain about if the sandbox is gone already", async () => {
    const server = await modalServer();
    const { sandbox, served } = await openModal(server);
    await server.end(served, "timed out");
    server.fail("sandboxTerminateV2", STATUS.FAILED_PRECONDITION);
    await sandbox.close();
  });
});
