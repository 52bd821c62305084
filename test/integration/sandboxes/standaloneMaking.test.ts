import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
  createStandaloneSandbox,
  EnvValueError,
  HostFileError,
  type IsolatedSandboxProvider,
  SandboxError,
  SandboxUnavailableError,
  type SandduneError,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";

useOwnTemporaryDirectory();

const failureOf = (attempt: Promise<unknown>): Promise<SandduneError> =>
  attempt.then(
    () => expect.unreachable(),
    (error) => error,
  );

const inner = testIsolated();
const provider = (changes: Partial<IsolatedSandboxProvider>): IsolatedSandboxProvider => ({
  ...inner,
  ...changes,
});

describe("a sandbox that is not to be", () => {
  it("because of its preflight is not created, and no secret is asked for", async () => {
    let asked = 0;
    const env = {
      TOKEN: () => {
        asked++;
        return "x";
      },
    };
    const unavailable = new SandboxUnavailableError("test", "there are no credentials", "Log in");
    const refusing = provider({ preflight: () => Promise.reject(unavailable) });
    expect(await failureOf(createStandaloneSandbox(refusing, { env }))).toBe(unavailable);
    const broken = provider({ preflight: () => Promise.reject(new TypeError("x is not a function")) });
    const error = await failureOf(createStandaloneSandbox(broken, { env }));
    expect(error).toBeInstanceOf(SandboxUnavailableError);
    expect(error.message).toContain("x is not a function");
    expect(asked).toBe(0);
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  it("because an env var has no value is not created", async () => {
    let creations = 0;
    const counting = provider({
      create: (options) => {
        creations++;
        return inner.create(options);
      },
    });
    const env = { TOKEN: { command: "exit 3" } };
    expect(await failureOf(createStandaloneSandbox(counting, { env }))).toBeInstanceOf(EnvValueError);
    expect(await failureOf(createStandaloneSandbox({ ...counting, env }))).toBeInstanceOf(EnvValueError);
    expect(creations).toBe(0);
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  it.each<[string, IsolatedSandboxProvider["create"]]>([
    ["at once", () => Promise.reject(new Error("out of capacity"))],
    [
      "when it is there already",
      async (options) => {
        await inner.create(options);
        throw new Error("out of capacity");
      },
    ],
  ])("because it cannot be created leaves nothing behind (%s)", async (_, create) => {
    const error = await failureOf(createStandaloneSandbox(provider({ create })));
    expect(error).toBeInstanceOf(SandboxError);
    expect(error.message).toMatch(/it could not be created.*out of capacity/s);
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  it("because there is nowhere to note it is not created", async () => {
    vi.stubEnv("TMPDIR", "/no/such/directory");
    try {
      expect(await failureOf(createStandaloneSandbox(inner))).toBeInstanceOf(HostFileError);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe("an abort", () => {
  const reason = { the: "reason" };
  const phases: Record<string, (abort: () => void) => Partial<IsolatedSandboxProvider>> = {
    "in the preflight": (abort) => ({ preflight: async () => abort() }),
    "of a preflight that rejects then": (abort) => ({
      preflight: ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("stopped")));
          abort();
        }),
    }),
    "while a value is asked for": (abort) => ({
      env: {
        TOKEN: () => {
          abort();
          return new Promise<string>(() => {});
        },
      },
    }),
    "while the sandbox is made": (abort) => ({
      create: async (options) => {
        abort();
        options.signal?.throwIfAborted();
        return inner.create(options);
      },
    }),
    "which the sandbox provider does not notice": (abort) => ({
      create: async ({ signal: _, ...options }) => {
        abort();
        return inner.create(options);
      },
    }),
  };

  it.each(Object.keys(phases))("%s gives everything back, and is what it rejects with", async (name) => {
    const controller = new AbortController();
    const changes = phases[name]?.(() => controller.abort(reason)) ?? {};
    const attempt = createStandaloneSandbox(provider(changes), { signal: controller.signal });
    expect(await failureOf(attempt)).toBe(reason);
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  it("that came before does nothing at all", async () => {
    let calls = 0;
    const counting = provider({
      preflight: async () => {
        calls++;
      },
    });
    const signal = AbortSignal.abort(reason);
    expect(await failureOf(createStandaloneSandbox(counting, { signal }))).toBe(reason);
    expect(calls).toBe(0);
  });

  it("that comes when the sandbox is there does not concern it", async () => {
    const controller = new AbortController();
    await using sandbox = await createStandaloneSandbox(inner, { signal: controller.signal });
    controller.abort(reason);
    expect((await sandbox.run("echo here")).stdout).toBe("here\n");
  });
});

describe("env vars", () => {
  it("are those of the sandbox provider and of the call, with values from wherever they come", async () => {
    vi.stubEnv("FROM_HOST", "host");
    vi.stubEnv("NOT_DECLARED", "never");
    try {
      const declaring = provider({ env: { OF_PROVIDER: "provider", BOTH: "provider" } });
      await using sandbox = await createStandaloneSandbox(declaring, {
        env: {
          BOTH: "call",
          FROM_HOST: undefined,
          ASKED: async () => "asked",
          TOLD: { command: "echo told" },
        },
      });
      const { stdout } = await sandbox.run(
        'echo "$OF_PROVIDER $BOTH $FROM_HOST $ASKED $TOLD $OWN <$NOT_DECLARED>"',
        { env: { OWN: "own" } },
      );
      expect(stdout).toBe("provider call host asked told own <>\n");
      const { stdout: after } = await sandbox.run('echo "<$OWN>"');
      expect(after).toBe("<>\n");
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe("terminate()", () => {
  it("tells what is left behind, every time, and leaves the note of it for others", async () => {
    const failing = provider({
      create: async (options) => {
        const handle = await inner.create(options);
        return {
          ...handle,
          close: async () => {
            await handle.close();
            throw new Error("the machine does not stop");
          },
        };
      },
    });
    const sandbox = await createStandaloneSandbox(failing);
    const error = await failureOf(sandbox.terminate());
    expect(error).toBeInstanceOf(SandboxError);
    expect(error.message).toContain("the machine does not stop");
    expect(await failureOf(sandbox.terminate())).toBe(error);
    const [left = "", ...others] = readdirSync(tmpdir());
    expect(others).toEqual([]);
    expect(left).toBe(`sanddune-standalone-${sandbox.name.replace(/^sanddune-/, "")}`);
    rmSync(join(tmpdir(), left), { recursive: true });
  });
});
