import { createServer } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { InvalidOptionsError, SandboxBusyError, SandboxUnavailableError } from "../../../src/errors.ts";
import { type ModalOptions, modal } from "../../../src/sandboxes/modal.ts";
import { STATUS } from "../../helpers/cloud/modalFaults.ts";
import { newSandboxName } from "../openSandbox.ts";
import { modalServer, openModal } from "./scene.ts";

const HOUR_MS = 60 * 60 * 1000;

const preflight = (options: ModalOptions = {}) => modal(options).preflight?.({ repositoryPath: "/" });

const unavailability = async (attempt: Promise<unknown> | undefined): Promise<SandboxUnavailableError> => {
  const error = await attempt?.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  return error as SandboxUnavailableError;
};

describe("modal() refuses", () => {
  const wrong: [string, unknown, string?][] = [
    ["app", "two words"],
    ["app", ""],
    ["imageName", ""],
    ["dockerfileCommands", "RUN true"],
    ["lifetimeMs", 25 * HOUR_MS],
    ["lifetimeMs", 0],
    ["lifetimeMs", "4h"],
    ["cpus", 0],
    ["memory", "4 GB"],
    ["memory", "1m"],
    ["network", "host"],
    ["network", {}],
    ["network", { domains: "example.com" }, "network.domains"],
    ["network", { ports: ["80"] }, "network.ports"],
    ["timeout", 5],
  ];
  it.each(wrong)("%s: %j", (option, value, named = option) => {
    expect(() => modal({ [option]: value })).toThrow(
      expect.objectContaining({ name: InvalidOptionsError.name, option: named }),
    );
  });
});

describe("modal() asks Modal for", () => {
  it("a sandbox with a deadline, a name and tags that say whose it is, until when", async () => {
    const server = await modalServer();
    const sandboxName = newSandboxName();
    const before = Date.now();
    const sandbox = await modal().create({
      runId: "20260101-000000-abcdef",
      sandboxName,
      repositoryPath: "/",
    });
    const [served] = server.sandboxes;
    expect(served?.request.definition).toMatchObject({ name: sandboxName, timeoutSecs: 4 * 60 * 60 });
    expect(served?.tags).toMatchObject({
      "sanddune-run": "20260101-000000-abcdef",
      "sanddune-name": sandboxName,
    });
    expect(served?.tags["sanddune-owner"]).toMatch(new RegExp(`-${process.pid}$`));
    const expires = served?.tags["sanddune-expires"]?.replace(/T(\d+)-(\d+)-/, "T$1:$2:") ?? "";
    expect(Date.parse(expires)).toBeGreaterThanOrEqual(before + 4 * HOUR_MS);
    await sandbox.close();
    expect(server.running()).toEqual([]);
  });

  it("what the options say, as a reservation and as a limit", async () => {
    const server = await modalServer();
    const { served } = await openModal(server, {
      imageName: "debian:12",
      dockerfileCommands: ["RUN apt-get install -y git"],
      lifetimeMs: 90_500,
      cpus: 2,
      memory: "4g",
    });
    expect(served.request.definition).toMatchObject({
      timeoutSecs: 91,
      resources: { milliCpu: 2000, milliCpuMax: 2000, memoryMb: 4096, memoryMbMax: 4096 },
      networkAccess: { networkAccessType: 1 },
    });
    expect(server.builds).toEqual([["FROM debian:12"], ["FROM base", "RUN apt-get install -y git"]]);
  });

  it.each<[ModalOptions["network"], object]>([
    ["none", { networkAccessType: 2 }],
    [
      { domains: ["example.com"] },
      { networkAccessType: 3, allowedDomains: ["example.com"], allowedCidrs: [] },
    ],
    [{ cidrs: ["10.0.0.0/8"] }, { networkAccessType: 3, allowedCidrs: ["10.0.0.0/8"], allowedDomains: [] }],
  ])("the network %j", async (network, networkAccess) => {
    const server = await modalServer();
    const { served } = await openModal(server, { network });
    expect(served.request.definition).toMatchObject({ networkAccess });
  });

  it("an image that it has built before, by its id", async () => {
    const server = await modalServer();
    const { served } = await openModal(server, { imageName: "im-123" });
    expect(served.request.definition).toMatchObject({ imageId: "im-123" });
    expect(server.builds).toEqual([]);
  });

  it("no env var: those go to each command", async () => {
    const server = await modalServer();
    const { served } = await openModal(server, { env: { API_KEY: "a secret" } });
    expect(JSON.stringify(served.request)).not.toContain("a secret");
    expect(served.request.secretSources).toEqual([]);
  });
});

describe("the preflight of modal()", () => {
  it("makes nothing, not even the app", async () => {
    const server = await modalServer();
    await preflight();
    expect(server.calls).toEqual(["authTokenGet", "appGetOrCreate"]);
    expect(server.apps.size).toBe(0);
  });

  it("names the credentials that are missing", async () => {
    await modalServer();
    vi.stubEnv("MODAL_TOKEN_SECRET", "");
    expect((await unavailability(preflight())).message).toContain(
      "MODAL_TOKEN_ID is set, but MODAL_TOKEN_SECRET is missing",
    );
    vi.stubEnv("MODAL_TOKEN_ID", "");
    const error = await unavailability(preflight());
    expect(error.message).toContain("there are no credentials");
    expect(error.hint).toContain("MODAL_TOKEN_ID and MODAL_TOKEN_SECRET");
  });

  it("says that the credentials are refused, without their values", async () => {
    await modalServer();
    vi.stubEnv("MODAL_TOKEN_SECRET", "as-not-the-right-one");
    const error = await unavailability(preflight());
    expect(error.message).toContain("Modal refuses the credentials");
    expect(error.message).not.toContain("as-not-the-right-one");
  });

  it("says that Modal cannot be reached", async () => {
    await modalServer();
    const closed = createServer();
    const port = await new Promise<number>((resolve) =>
      closed.listen(0, "127.0.0.1", () => resolve((closed.address() as { port: number }).port)),
    );
    await new Promise((resolve) => closed.close(resolve));
    vi.stubEnv("MODAL_SERVER_URL", `http://127.0.0.1:${port}`);
    const error = await unavailability(preflight());
    expect(error.message).toContain("Modal cannot be reached");
    expect(error.hint).toContain("MODAL_SERVER_URL");
  });

  it("does not wait for ever, nor for longer than its signal", async () => {
    const server = await modalServer();
    server.freeze();
    const controller = new AbortController();
    const reason = new Error("never mind");
    server.onCall("authTokenGet", () => controller.abort(reason));
    const attempt = modal().preflight?.({ repositoryPath: "/", signal: controller.signal });
    await expect(attempt).rejects.toBe(reason);
  });

  it("can be asked again after it has failed", async () => {
    const server = await modalServer();
    const provider = modal();
    vi.stubEnv("MODAL_TOKEN_ID", "");
    await unavailability(provider.preflight?.({ repositoryPath: "/" }));
    vi.stubEnv("MODAL_TOKEN_ID", server.env["MODAL_TOKEN_ID"]);
    await provider.preflight?.({ repositoryPath: "/" });
  });
});

it("says what a Modal sandbox cannot do", async () => {
  const server = await modalServer();
  expect(modal().capabilities).toEqual({ terminal: false, extension: false });
  expect((await openModal(server)).sandbox.interactiveExec).toBeUndefined();
});

it("has the repository in the home directory of the commands' user", async () => {
  const server = await modalServer();
  const { sandbox, served } = await openModal(server);
  expect(sandbox.worktreePath).toBe(`${served.machine.home}/repo`);
});

it("counts the lifetime from when Modal is asked for a sandbox, not from when it answers", async () => {
  const server = await modalServer({ enforcesDeadlines: false });
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  // What is ended shortly before an hour is over has two seconds left when the sandbox is there.
  server.onCall("imageGetOrCreate", () => vi.setSystemTime(Date.now() + 10 * 60_000));
  server.onCall("sandboxCreateV2", () => vi.setSystemTime(Date.now() + 57 * 60_000 - 2000));
  const { sandbox } = await openModal(server, { lifetimeMs: HOUR_MS });
  await expect(sandbox.exec("sleep 1000")).rejects.toThrow("its lifetime of 60 minutes is nearly over");
});

it("tells where a sandbox is before it asks for one, without any secret", async () => {
  const server = await modalServer();
  vi.stubEnv("MODAL_ENVIRONMENT", "prod");
  const places: string[] = [];
  const sandbox = await modal({ app: "builds" }).create({
    runId: "test-run",
    sandboxName: newSandboxName(),
    repositoryPath: "/",
    onPlaced: (place) => {
      expect(server.calls).toEqual([]);
      places.push(place);
    },
  });
  await sandbox.close();
  expect(places.map((place) => JSON.parse(place))).toEqual([
    expect.objectContaining({ app: "builds", environment: "prod" }),
  ]);
  for (const value of Object.values(server.env)) expect(places[0]).not.toContain(value);
  expect([...server.apps.keys()]).toEqual(["prod/builds"]);
});

it("says that Modal has no free capacity", async () => {
  const server = await modalServer();
  server.fail("sandboxCreateV2", STATUS.RESOURCE_EXHAUSTED, Number.POSITIVE_INFINITY);
  const error = await unavailability(openModal(server, { createTimeoutMs: 300 }));
  expect(error).toBeInstanceOf(SandboxBusyError);
  expect(error.message).toContain("no free capacity");
});
