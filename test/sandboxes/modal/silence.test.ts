import type { Sandbox } from "modal";
import { expect, it, onTestFinished, vi } from "vitest";
import { SandboxError, SandboxLostError } from "../../../src/errors.ts";
import { modalHeartbeat } from "../../../src/sandboxes/modal/heartbeat.ts";
import type { ModalServer } from "../../helpers/cloud/modalServer.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { modalServer, openModal } from "./scene.ts";

/** Of a short life, Modal may be silent for a tenth only, and is asked more often. */
const SHORT = { lifetimeMs: 60_000 };
const ASKED = "sandboxWaitV2";

/** Times of timers that are set from now on are shorter, so that nobody has to wait long for silence. */
const shortenTimes = (factor: number): (() => void) => {
  const set = globalThis.setTimeout;
  const shorter = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation(((then: () => void, ms = 0) => set(then, ms / factor)) as typeof setTimeout);
  const restore = () => shorter.mockRestore();
  onTestFinished(restore);
  return restore;
};

/** Waits until Modal was asked that often whether a sandbox is there, answered or not. */
const askedMoreOften = async (server: ModalServer, times: number): Promise<void> => {
  let asked = 0;
  server.onCall(ASKED, () => asked++);
  await waitFor(() => asked >= times, 40_000);
};

it("when Modal stops answering, the sandbox is lost, and closing it ends", async () => {
  const server = await modalServer();
  const { sandbox } = await openModal(server, SHORT);
  const running = sandbox.exec("echo running; sleep 1000", {
    onLine: () => {
      server.freeze();
      shortenTimes(20);
    },
  });
  const error = await running.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SandboxLostError);
  expect((error as Error).message).toContain("it no longer answers");
  await expect(sandbox.close()).rejects.toBeInstanceOf(SandboxError);
}, 180_000);

it("a short silence of Modal loses no sandbox", async () => {
  const server = await modalServer({ enforcesDeadlines: false });
  const { sandbox } = await openModal(server, SHORT);
  const running = sandbox.exec("until [ -e enough ]; do sleep 0.1; done; echo done");
  server.freeze(ASKED);
  const restoreTimes = shortenTimes(10);
  await askedMoreOften(server, 4);
  server.thaw();
  await askedMoreOften(server, 8);
  restoreTimes();
  await sandbox.exec("touch enough");
  expect((await running).stdout).toBe("done\n");
}, 120_000);

it("a sandbox with output is alive, even if Modal does not answer", async () => {
  const server = await modalServer({ enforcesDeadlines: false });
  const { sandbox } = await openModal(server, SHORT);
  const running = sandbox.exec("until [ -e enough ]; do echo here; sleep 0.05; done; echo done");
  server.freeze(ASKED);
  const restoreTimes = shortenTimes(4);
  // Without the output, it would be lost after twelve times.
  await askedMoreOften(server, 15);
  restoreTimes();
  await sandbox.exec("touch enough");
  expect((await running).stdout).toMatch(/^(here\n)+done\n$/);
}, 120_000);

it("a sandbox with a long life is lost after two minutes of silence, not earlier", () => {
  const { everyMs, misses } = modalHeartbeat({} as Sandbox, 4 * 60 * 60_000).heartbeat;
  expect(everyMs * (misses + 1)).toBe(2 * 60_000);
});
