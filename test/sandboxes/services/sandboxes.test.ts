import { symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { InvalidOptionsError, SandboxError, SandboxUnavailableError } from "../../../src/errors.ts";
import type { IsolatedSandboxProvider } from "../../../src/sandboxes/contract.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { findLeftovers } from "../../../src/sandboxes/registry.ts";
import { vercel } from "../../../src/sandboxes/vercel.ts";
import { useE2bServer, useVercelServer } from "../../helpers/cloud/useServers.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { newSandboxName, openIsolated } from "../openSandbox.ts";

const preflight = (provider: IsolatedSandboxProvider): Promise<void> | undefined =>
  provider.preflight?.({ repositoryPath: tmpdir() });

/** What becomes of a command, over a network that ends here. */
const closedPort = async (): Promise<string> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
};

const withEnv = async (env: Record<string, string | undefined>, use: () => Promise<void>): Promise<void> => {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    await use();
  } finally {
    for (const [name, value] of Object.entries(before)) vi.stubEnv(name, value);
  }
};

const openWithTags = (provider: IsolatedSandboxProvider, runId: string, sandboxName: string) =>
  provider.create({ runId, sandboxName, repositoryPath: tmpdir() });

describe.each([
  ["e2b", e2b as (options: never) => unknown],
  ["vercel", vercel as (options: never) => unknown],
])("the options of %s", (_, factory) => {
  const shared: [string, unknown][] = [
    ["lifetimeMs", 0],
    ["lifetimeMs", "5m"],
    ["leaseMs", 25 * 60 * 60 * 1000],
    ["leaseMs", Number.NaN],
    ["lifetimeMs", 25 * 60 * 60 * 1000],
    ["network", "host"],
    ["network", {}],
    ["network", { domains: "example.com" }],
    ["network", { domain: ["example.com"] }],
    ["timeout", 1000],
  ];
  const own: [string, unknown][] =
    factory === (e2b as unknown)
      ? [
          ["template", ""],
          ["template", 7],
        ]
      : [
          ["imageName", ""],
          ["vcpus", 0],
          ["vcpus", 1.5],
        ];
  test.each([...shared, ...own])("refuse { %s: %j } when they are given", (option, value) => {
    const attempt = () => factory({ [option]: value } as never);
    expect(attempt).toThrow(InvalidOptionsError);
    expect(attempt).toThrow(option);
  });
});

describe("an e2b sandbox", () => {
  const server = useE2bServer();
  afterEach(async () => {
    server.current.loopback.faults.length = 0;
    await Promise.all([...server.current.sandboxes.values()].map((sandbox) => server.current.lose(sandbox)));
  });

  test("is made of the template, with tags, a deadline and the network that was asked for", async () => {
    const name = newSandboxName();
    const network = { domains: ["example.com"], cidrs: ["10.0.0.0/8"] };
    const provider = e2b({ template: "my-app", leaseMs: 60_000, network });
    const sandbox = await openWithTags(provider, "run-1", name);
    const { request } = server.current.sandbox;
    expect(request).toMatchObject({
      templateID: "my-app",
      timeout: 60,
      network: { allowOut: ["example.com", "10.0.0.0/8"], denyOut: ["0.0.0.0/0"] },
      metadata: {
        "sanddune.run": "run-1",
        "sanddune.name": name,
        "sanddune.owner": `${hostname()}:${process.pid}`,
      },
    });
    expect(Date.parse(request.metadata?.["sanddune.expires"] ?? "")).toBeGreaterThan(Date.now());
    await sandbox.close();
    expect(server.current.sandboxes.size).toBe(0);
  });

  test("can have no network", async () => {
    const sandbox = await openIsolated(e2b({ network: "none" }));
    expect(server.current.sandbox.request.allow_internet_access).toBe(false);
    await sandbox.close();
  });

  test("is unavailable without a key, and the error says where it belongs", () =>
    withEnv({ E2B_API_KEY: undefined }, async () => {
      const attempt = preflight(e2b());
      await expect(attempt).rejects.toThrow(SandboxUnavailableError);
      await expect(attempt).rejects.toThrow(/E2B_API_KEY is not set\. Make a key/);
    }));

  test("is unavailable with a key that E2B refuses, and the error does not show it", () =>
    withEnv({ E2B_API_KEY: `e2b_${"1".repeat(40)}` }, async () => {
      const failure: unknown = await preflight(e2b())?.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SandboxUnavailableError);
      expect(String(failure)).toMatch(/refuses the key in E2B_API_KEY/);
      expect(String(failure)).not.toContain("1111");
    }));

  test("is unavailable from a service that cannot be reached", async () =>
    withEnv({ E2B_API_URL: await closedPort() }, async () => {
      await expect(preflight(e2b())).rejects.toThrow(/E2B cannot be reached/);
    }));

  test("is unavailable from a service that is down, or has no free capacity", async () => {
    server.current.loopback.faults.push({ on: /^GET \/v2\/sandboxes$/, times: 1, status: 503 });
    await expect(preflight(e2b())).rejects.toThrow(/E2B cannot be reached/);
    server.current.loopback.faults.push({
      on: /^POST \/v2\/sandboxes$/,
      times: 1,
      status: 429,
      retryAfter: 3600,
    });
    await expect(openIsolated(e2b())).rejects.toThrow(/E2B has no free capacity/);
  });

  test("is unavailable with a template that does not exist", async () => {
    const attempt = openIsolated(e2b({ template: "missing" }));
    await expect(attempt).rejects.toThrow(SandboxUnavailableError);
    await expect(attempt).rejects.toThrow(/no template missing/);
  });

  test("is found and removed by its run's name, and no other is", async () => {
    const name = newSandboxName();
    await openWithTags(e2b(), "dead run/1", name);
    await openWithTags(e2b(), "dead run/1", `${name}-recovery`);
    await openWithTags(e2b(), "other run", name);
    const known = await findLeftovers("e2b");
    const left = { sandboxName: name, runId: "dead run/1", temporaryDirectory: tmpdir() };
    const [first] = server.current.sandboxes.keys();
    expect(await known?.find(left)).toBe(`e2b sandbox ${first}`);
    await known?.remove(left);
    expect(await known?.find(left)).toBe(undefined);
    expect(server.current.sandboxes.size).toBe(2);
  });

  test("is identified by its own tags, even if the service lists others", async () => {
    const name = newSandboxName();
    await openWithTags(e2b(), "other run", name);
    server.current.heedsFilters = false;
    onTestFinished(() => {
      server.current.heedsFilters = true;
    });
    const left = { sandboxName: name, runId: "dead run", temporaryDirectory: tmpdir() };
    const leftovers = await findLeftovers("e2b");
    expect(await leftovers?.find(left)).toBe(undefined);
    await leftovers?.remove(left);
    // A request that fails, although it may have made something, ends nothing either that is not its own.
    server.current.loopback.faults.push({
      on: /^POST \/v2\/sandboxes$/,
      times: 1,
      status: 429,
      retryAfter: 3600,
    });
    await expect(openIsolated(e2b())).rejects.toThrow(/E2B has no free capacity/);
    expect(server.current.sandboxes.size).toBe(1);
  });
});

describe("a vercel sandbox", () => {
  const server = useVercelServer();
  afterEach(async () => {
    server.current.loopback.faults.length = 0;
    await Promise.all([...server.current.sandboxes.values()].map((sandbox) => server.current.lose(sandbox)));
  });

  test("is made of the image, with tags, a deadline, CPUs and the network that was asked for, and is not kept", async () => {
    const name = newSandboxName();
    const network = { domains: ["example.com"], cidrs: ["10.0.0.0/8"] };
    const provider = vercel({ imageName: "acme/app:1", leaseMs: 60_000, vcpus: 4, network });
    const sandbox = await openWithTags(provider, "run-1", name);
    expect(server.current.sandbox.request).toMatchObject({
      name,
      image: "acme/app:1",
      timeout: 60_000,
      persistent: false,
      resources: { vcpus: 4 },
      networkPolicy: { allow: ["example.com"], subnets: { allow: ["10.0.0.0/8"] } },
      tags: { "sanddune-run": "run-1", "sanddune-owner": expect.stringContaining(String(process.pid)) },
    });
    await sandbox.close();
    expect(server.current.sandboxes.size).toBe(0);
  });

  test("can have no network", async () => {
    const sandbox = await openIsolated(vercel({ network: "none" }));
    expect(server.current.sandbox.request.networkPolicy).toEqual({ mode: "deny-all" });
    await sandbox.close();
  });

  test("is lost when its session ends, and is never restarted silently", async () => {
    const sandbox = await openIsolated(vercel());
    let ending: Promise<void> | undefined;
    const attempt = sandbox.exec("echo running; sleep 1000", {
      onLine: () => {
        ending ??= server.current.stop(server.current.sandbox);
      },
    });
    await expect(attempt).rejects.toThrow(/its session has ended \(stopped\)/);
    await expect(sandbox.exec("true")).rejects.toThrow(/its session has ended/);
    await ending;
    expect(server.current.resumed).toBe(0);
    await sandbox.close();
    expect(server.current.sandboxes.size).toBe(0);
  });

  test.each([
    [{ VERCEL_TOKEN: undefined }, /neither in VERCEL_TOKEN nor in VERCEL_OIDC_TOKEN\. Make a token/],
    [{ VERCEL_TEAM_ID: undefined }, /VERCEL_TOKEN is set, but VERCEL_TEAM_ID is missing/],
    [
      { VERCEL_TOKEN: undefined, VERCEL_OIDC_TOKEN: "a.b.c" },
      /VERCEL_OIDC_TOKEN does not hold a Vercel token/,
    ],
    [{ VERCEL_TOKEN: "s3cret" }, /Vercel refuses the credentials/],
  ])("is unavailable with %j", (env, says) =>
    withEnv(env, async () => {
      const failure: unknown = await preflight(vercel())?.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SandboxUnavailableError);
      expect(String(failure)).toMatch(says);
      expect(String(failure)).not.toContain("s3cret");
    }),
  );

  test("takes an OIDC token for what it says", () => {
    const payload = Buffer.from(JSON.stringify({ owner_id: "team_1", project_id: "prj_1" })).toString(
      "base64url",
    );
    return withEnv({ VERCEL_TOKEN: undefined, VERCEL_OIDC_TOKEN: `e30.${payload}.x` }, async () => {
      await expect(preflight(vercel())).rejects.toThrow(/Vercel refuses the credentials/);
      expect(server.current.lastTeam).toBe("team_1");
    });
  });

  test("is unavailable from a service that cannot be reached", async () =>
    withEnv({ LOOPBACK_VERCEL: await closedPort() }, async () => {
      await expect(preflight(vercel())).rejects.toThrow(/Vercel cannot be reached/);
    }));

  test("is unavailable from a service that is down, or has no free capacity", async () => {
    const { faults } = server.current.loopback;
    faults.push({ on: /^GET .*\/sandboxes$/, times: 3, status: 503 });
    await expect(preflight(vercel())).rejects.toThrow(/Vercel cannot be reached/);
    faults.push({ on: /^POST .*\/sandboxes$/, times: 1, status: 429, retryAfter: 3600 });
    await expect(openIsolated(vercel())).rejects.toThrow(/Vercel has no free capacity/);
  });

  test("is unavailable with an image that does not exist", async () => {
    const attempt = openIsolated(vercel({ imageName: "no/such/image" }));
    await expect(attempt).rejects.toThrow(SandboxUnavailableError);
    await expect(attempt).rejects.toThrow(/no image no\/such\/image/);
  });

  test("says what its image lacks, and goes", async () => {
    server.current.path = temporaryDirectory();
    symlinkSync("/bin/sh", join(server.current.path, "sh"));
    onTestFinished(() => {
      server.current.path = undefined;
    });
    const attempt = openIsolated(vercel());
    await expect(attempt).rejects.toThrow(SandboxError);
    await expect(attempt).rejects.toThrow(/There is no base64 in the sandbox: install it in its image/);
    expect(server.current.sandboxes.size).toBe(0);
  });

  test("does not take another's sandbox for its own because of its name", async () => {
    const name = newSandboxName();
    await openWithTags(vercel(), "other run", name);
    await expect(openWithTags(vercel(), "this run", name)).rejects.toThrow(/is taken/);
    expect(server.current.sandbox.status).toBe("running");
  });

  test("is found and removed by its run's name, and no other is", async () => {
    const [name, other] = [newSandboxName(), newSandboxName()];
    await openWithTags(vercel(), "dead run/1", name);
    await openWithTags(vercel(), "other run", other);
    const known = await findLeftovers("vercel");
    const left = { sandboxName: name, runId: "dead run/1", temporaryDirectory: tmpdir() };
    expect(await known?.find({ ...left, sandboxName: other })).toBe(undefined);
    expect(await known?.find(left)).toBe(`vercel sandbox ${name}`);
    await known?.remove(left);
    expect(await known?.find(left)).toBe(undefined);
    expect([...server.current.sandboxes.keys()]).toEqual([other]);
  });
});
