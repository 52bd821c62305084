import { describe, expect, it, onTestFinished } from "vitest";
import { SandboxBusyError, SandboxUnavailableError } from "../../../src/errors.ts";
import { CLOUDS } from "../../helpers/cloud/clouds.ts";
import { STATUS } from "../../helpers/cloud/modalFaults.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { modalServer, openModal } from "../modal/scene.ts";
import { newSandboxName, openIsolated } from "../openSandbox.ts";

const QUOTA = "You have reached the maximum number of concurrent sandboxes";
const IMAGE = "Your team has no access to this template image";

const failureOf = async (attempt: Promise<unknown>): Promise<SandboxUnavailableError> => {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  return error as SandboxUnavailableError;
};

describe.each(CLOUDS)("$name, when it refuses to make a sandbox,", ({ provider, use, requests }) => {
  const cloud = use();
  const refuse = (status: number, more: { times?: number; retryAfter?: number; message?: string } = {}) => {
    const { faults, log } = cloud().loopback;
    log.length = 0;
    faults.push({ on: requests.create, times: 1, status, ...more });
    onTestFinished(() => void faults.splice(0));
  };
  const asked = () => cloud().loopback.count(requests.create);

  it.each([429, 500, 503])(
    "is asked again after %d",
    async (status) => {
      refuse(status, { times: 4 });
      await (await openIsolated(provider())).close();
      expect(asked()).toBe(5);
    },
    60_000,
  );

  it("is asked again when it wants to be, and not before", async () => {
    refuse(429, { retryAfter: 3600 });
    const error = await failureOf(openIsolated(provider()));
    expect(error).toBeInstanceOf(SandboxBusyError);
    expect(error).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(asked()).toBe(1);
  });

  it("is not waited for after an abort", async () => {
    refuse(429, { retryAfter: 60 });
    const controller = new AbortController();
    const attempt = provider().create({
      ...{ runId: "test-run", sandboxName: newSandboxName(), repositoryPath: "/" },
      signal: controller.signal,
    });
    attempt.catch(() => {});
    await waitFor(() => asked() === 1);
    const reason = new Error("never mind");
    controller.abort(reason);
    await expect(attempt).rejects.toBe(reason);
  });

  it.each([
    ["of a quota", QUOTA, /limits of your plan/],
    ["of a template or an image", IMAGE, /Use (an image|a template)/],
  ])("because %s, does not blame the key", async (_, message, hint) => {
    refuse(403, { message });
    const error = await failureOf(openIsolated(provider()));
    expect(error.message).toContain(message);
    expect(error.message).not.toMatch(/Make a (key|token)/);
    expect(error.hint).toMatch(hint);
    expect(error).not.toBeInstanceOf(SandboxBusyError);
  });
});

describe("modal, when it refuses to make a sandbox,", () => {
  it("is asked again if it has no free capacity", async () => {
    const server = await modalServer();
    server.fail("sandboxCreateV2", STATUS.RESOURCE_EXHAUSTED, 2);
    await openModal(server);
    expect(server.sandboxes).toHaveLength(1);
  });

  it.each([
    ["of a quota", QUOTA, /limits of your plan/],
    ["of an image", IMAGE, /Use an image/],
    ["of something else", "not in this environment", /MODAL_ENVIRONMENT/],
  ])("because %s, does not blame the token", async (_, message, hint) => {
    const server = await modalServer();
    server.fail("sandboxCreateV2", STATUS.PERMISSION_DENIED, 1, message);
    const error = await failureOf(openModal(server));
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("Make a token");
    expect(error.hint).toMatch(hint);
  });
});
