import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import {
  createStandaloneSandbox,
  InvalidOptionsError,
  ProcessTimeoutError,
  SandboxError,
  SandboxLostError,
  type SandboxProvider,
  SandboxUserMismatchError,
  type StandaloneSandbox,
  type StandaloneSandboxOptions,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { CLOUDS } from "../../helpers/cloud/clouds.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { useTcpRelay } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE, TEST_USER_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";
import { sharedModalServer } from "../../sandboxes/modal/scene.ts";

useOwnTemporaryDirectory();

const failureOf = (attempt: Promise<unknown>): Promise<Error> =>
  attempt.then(
    () => expect.unreachable(),
    (error) => error,
  );

const withSandbox = async (
  provider: SandboxProvider,
  use: (sandbox: StandaloneSandbox) => Promise<void>,
  options?: StandaloneSandboxOptions,
): Promise<void> => {
  await using sandbox = await createStandaloneSandbox(provider, options);
  await use(sandbox);
};

/** A command that has begun and goes on for ever, and the error that it ends with. */
const begin = async (sandbox: StandaloneSandbox): Promise<{ readonly end: Promise<Error> }> => {
  let end: Promise<Error> | undefined;
  await new Promise<void>((resolve, reject) => {
    end = failureOf(sandbox.run("echo begun; sleep 1000", { onLine: () => resolve() }));
    end.then(reject);
  });
  return { end: end as unknown as Promise<Error> };
};

/** Long enough for a busy machine to hear of a command. */
const KILL_AFTER_MS = 4000;

const promises = (provider: () => SandboxProvider): void => {
  let sandbox: StandaloneSandbox;
  beforeAll(async () => {
    sandbox = await createStandaloneSandbox(provider(), {
      env: { OUTER: () => "outer", TOKEN: "hunter2-hunter2" },
    });
  });
  afterAll(() => sandbox?.terminate());

  it("runs commands, and tells what became of them by name and in order", async () => {
    const [exitCode, stdout, stderr] = await sandbox.run("pwd -P; ls -A");
    expect([exitCode, stdout, stderr]).toEqual([0, `${sandbox.directory}\n`, ""]);
    const result = await sandbox.run("echo out; echo err >&2; exit 3");
    expect({ ...result }).toMatchObject({ exitCode: 3, stdout: "out\n", stderr: "err\n" });
    expect(result.durationMs).toBeGreaterThanOrEqual(0);
  });

  it("has cwd, env, stdin, lines and limits", async () => {
    const lines: string[] = [];
    await sandbox.run("mkdir -p inner/most");
    const { stdout } = await sandbox.run('pwd -P; cat; echo "$OUTER $INNER $PLAIN"; echo err >&2', {
      cwd: "inner/most",
      env: { INNER: "inner", PLAIN: { public: "plain" } },
      stdin: "input\n",
      onLine: (line) => lines.push(line),
      onStderrLine: (line) => lines.push(line),
    });
    const expected = [`${sandbox.directory}/inner/most`, "input", "outer inner plain"];
    expect(stdout).toBe(`${expected.join("\n")}\n`);
    expect(lines.sort()).toEqual([...expected, "err"].sort());
    expect((await sandbox.run("pwd", { cwd: "/" })).stdout).toBe("/\n");
    expect((await sandbox.run("echo long; echo end", { captureBytes: 4 })).stdout).toBe("end\n");
  });

  it("reads what it has written, text and bytes, wherever in the sandbox", async () => {
    const bytes = Buffer.concat([Buffer.from([0, 255, 10, 13]), randomBytes(3_000_000)]);
    await sandbox.writeFile("made/on the way/bytes", bytes);
    expect(bytes.equals(await sandbox.readFileBytes("made/on the way/bytes"))).toBe(true);
    for (const text of ["", "no line end", "\ufeffünï☃😀\r\n\n"]) {
      await sandbox.writeFile("text", text);
      expect(await sandbox.readFile("text")).toBe(text);
    }
    const { stdout: home } = await sandbox.run("cd; pwd -P");
    const elsewhere = `${home.trimEnd()}/made/elsewhere`;
    await sandbox.writeFile(elsewhere, "elsewhere");
    await sandbox.run(`ln -s '${elsewhere}' link`);
    expect(await sandbox.readFile("link")).toBe("elsewhere");
    await sandbox.run("printf '#!/bin/sh\\nexit 9\\n' >script; chmod 755 script");
    await sandbox.writeFile("script", "#!/bin/sh\nexit 8\n");
    expect((await sandbox.run("./script")).exitCode).toBe(8);
  });

  it("copies files and directories in, and files out", async () => {
    const host = temporaryDirectory();
    mkdirSync(join(host, "tree/inner"), { recursive: true });
    writeFileSync(join(host, "tree/inner/file"), "content", { mode: 0o755 });
    symlinkSync("inner/file", join(host, "tree/link"));
    await sandbox.copyIn(join(host, "tree"), "copied");
    await sandbox.copyIn(join(host, "tree/inner/file"), "alone");
    expect((await sandbox.run("cat alone copied/link; readlink copied/link")).stdout).toBe(
      "contentcontentinner/file\n",
    );
    await sandbox.copyFileOut("copied/inner/file", join(host, "out"));
    expect(readFileSync(join(host, "out"), "utf8")).toBe("content");
  });

  it("says what is wrong with a file that cannot be read or written", async () => {
    await sandbox.run("mkdir directory; mkfifo pipe; printf 'a\\377b' >latin");
    const reasons: Record<string, string> = {
      missing: "it does not exist in the sandbox",
      directory: "it is not a regular file",
      pipe: "it is not a regular file",
      latin: "is not UTF-8 text. Use readFileBytes()",
    };
    for (const [name, reason] of Object.entries(reasons)) {
      const error = await failureOf(sandbox.readFile(name));
      expect(error).toBeInstanceOf(SandboxError);
      expect(error.message).toContain(`${sandbox.directory}/${name}`);
      expect(error.message).toContain(reason);
    }
    expect([...(await sandbox.readFileBytes("latin"))]).toEqual([97, 255, 98]);
    for (const path of ["directory", "latin/below", "/proc/nothing/here"]) {
      expect(await failureOf(sandbox.writeFile(path, "x"))).toBeInstanceOf(SandboxError);
    }
  });

  it.concurrent("kills a command that takes too long or is aborted, and can be used as before", async ({
    expect,
  }) => {
    const late = failureOf(sandbox.run("echo begun; sleep 1000", { timeoutMs: KILL_AFTER_MS }));
    const controller = new AbortController();
    const reason = { the: "reason" };
    const aborted = sandbox.run("echo begun; sleep 1000", {
      signal: controller.signal,
      onLine: () => controller.abort(reason),
    });
    expect(await failureOf(aborted)).toBe(reason);
    const thrown = new Error("thrown by the caller");
    const refused = sandbox.run("echo begun; sleep 1000", {
      onLine: () => {
        throw thrown;
      },
    });
    expect(await failureOf(refused)).toBe(thrown);
    expect(await late).toBeInstanceOf(ProcessTimeoutError);
    expect(await late).toMatchObject({ timeoutMs: KILL_AFTER_MS, stdout: "begun\n" });
    expect((await sandbox.run("echo here")).stdout).toBe("here\n");
  });

  it.concurrent("keeps secrets out of errors, but not out of what a command prints", async ({ expect }) => {
    expect((await sandbox.run('echo "$TOKEN"')).stdout).toBe("hunter2-hunter2\n");
    const error = await failureOf(
      sandbox.run('echo "$TOKEN $OWN" >&2; sleep 1000', {
        timeoutMs: KILL_AFTER_MS,
        env: { OWN: "swordfish-swordfish" },
      }),
    );
    expect(error).toBeInstanceOf(ProcessTimeoutError);
    expect((error as ProcessTimeoutError).stderr).toBe("[redacted TOKEN] [redacted OWN]\n");
  });

  it("is gone after terminate(), however often that is called, with everything that was in it", async () => {
    const before = readdirSync(tmpdir());
    const gone = await createStandaloneSandbox(provider());
    await gone.writeFile("file", "content");
    const endless = await begin(gone);
    await Promise.all([gone.terminate(), gone.terminate(), gone[Symbol.asyncDispose]()]);
    await gone.terminate();
    expect(await endless.end).toBeInstanceOf(SandboxLostError);
    const attempts = [
      gone.run("true"),
      gone.writeFile("file", ""),
      gone.readFile("file"),
      gone.readFileBytes("file"),
      gone.copyIn("/etc/hostname", "file"),
      gone.copyFileOut("file", "/nowhere/out"),
    ];
    for (const attempt of attempts) {
      const error = await failureOf(attempt);
      expect(error).toBeInstanceOf(SandboxLostError);
      expect(error.message).toContain("it was terminated");
    }
    expect(readdirSync(tmpdir())).toEqual(before);
  });
};

describe("a standalone test-isolated sandbox", () => {
  promises(testIsolated);

  it("refuses a file that is too large for memory, and copies it out all the same", () =>
    withSandbox(testIsolated(), async (sandbox) => {
      const limit = 64 * 1024 * 1024;
      await sandbox.run(`truncate -s ${limit + 1} large`);
      const error = await failureOf(sandbox.readFile("large"));
      expect(error.message).toContain("it is larger than 64 MiB. Use copyFileOut()");
      const out = join(temporaryDirectory(), "out");
      await sandbox.copyFileOut("large", out);
      expect(statSync(out).size).toBe(limit + 1);
    }));
});
describeWith(["bubblewrap"], "a standalone bubblewrap sandbox", () => promises(bubblewrap));

/** What becomes of the calls is shown above, and what a provider makes of them by its conformance. */
const worksThere = (provider: () => SandboxProvider): void => {
  it("runs commands, moves files in and out, and is gone after terminate()", async () => {
    const host = temporaryDirectory();
    mkdirSync(join(host, "tree"));
    writeFileSync(join(host, "tree/file"), "content");
    const before = readdirSync(tmpdir());
    const sandbox = await createStandaloneSandbox(provider(), { env: { OUTER: "outer" } });
    await sandbox.copyIn(join(host, "tree"), "copied");
    const result = await sandbox.run('pwd -P; cat - file; echo "$OUTER"; exit 3', {
      cwd: "copied",
      stdin: "input\n",
    });
    expect([...result]).toEqual([3, `${sandbox.directory}/copied\ninput\ncontentouter\n`, ""]);
    const bytes = randomBytes(100_000);
    await sandbox.writeFile("made/on the way/bytes", bytes);
    expect(bytes.equals(await sandbox.readFileBytes("made/on the way/bytes"))).toBe(true);
    await sandbox.copyFileOut("made/on the way/bytes", join(host, "out"));
    expect(bytes.equals(readFileSync(join(host, "out")))).toBe(true);
    const reason = { the: "reason" };
    const controller = new AbortController();
    const aborted = sandbox.run("echo begun; sleep 1000", {
      signal: controller.signal,
      onLine: () => controller.abort(reason),
    });
    expect(await failureOf(aborted)).toBe(reason);
    const endless = await begin(sandbox);
    await sandbox.terminate();
    expect(await endless.end).toBeInstanceOf(SandboxLostError);
    expect(readdirSync(tmpdir())).toEqual(before);
  });
};

describeWith(["docker"], "a standalone docker sandbox", () =>
  worksThere(() => docker({ imageName: TEST_IMAGE })),
);
describeWith(["podman"], "a standalone podman sandbox", () =>
  worksThere(() => podman({ imageName: TEST_IMAGE })),
);

describe.each(CLOUDS)("a standalone $name sandbox", ({ provider, use }) => {
  const cloud = use();
  worksThere(provider);

  test("is not left with the service", () => expect(cloud().count()).toBe(0));
});

describe("a standalone modal sandbox", () => {
  const server = sharedModalServer();
  worksThere(modal);

  test("is not left with the service", () => expect(server().running()).toEqual([]));
});

describeWith(["docker"], "a standalone docker sandbox on another machine", () => {
  const relay = useTcpRelay();
  worksThere(() => docker({ imageName: TEST_USER_IMAGE, host: relay().address }));
});

describeWith(["docker"], "a standalone sandbox in a container", () => {
  test("installs things as root, if it was made for that, and leaves nothing of root's behind", () =>
    withSandbox(
      docker({ imageName: TEST_IMAGE }),
      async (sandbox) => {
        expect((await sandbox.run("id -u", { sudo: true })).stdout).toBe("0\n");
        await sandbox.run("mkdir -m 700 of-root; echo x >of-root/file; echo y >.hidden", { sudo: true });
      },
      { usesSudo: true },
    ));

  test("as another user is refused, because its files would not be yours", async () => {
    const error = await failureOf(
      createStandaloneSandbox(docker({ imageName: TEST_IMAGE, user: "4711:4711" })),
    );
    expect(error).toBeInstanceOf(SandboxUserMismatchError);
    expect(error.message).toMatch(/run as uid 4711, but the directory belongs to/);
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  test("that is killed is lost, and can be terminated", async () => {
    const sandbox = await createStandaloneSandbox(docker({ imageName: TEST_IMAGE }));
    try {
      const attempt = failureOf(
        sandbox.run("echo begun; sleep 1000", { onLine: () => callClient("docker", "kill", sandbox.name) }),
      );
      expect(await attempt).toBeInstanceOf(SandboxLostError);
      expect(await failureOf(sandbox.readFile("x"))).toBeInstanceOf(SandboxLostError);
    } finally {
      await sandbox.terminate();
    }
  });
});

describe("wrong use is reported before anything is done", () => {
  it.each<[unknown, unknown, RegExp]>([
    [undefined, {}, /`provider`.*must be a sandbox provider/],
    [{ type: "none", name: "no-sandbox" }, {}, /`provider`.*no-sandbox/],
    [testIsolated(), { sandbox: 1 }, /`sandbox`.*no such option/],
    [testIsolated(), { env: { A: 5 } }, /`env`.*the value of A/],
    [testIsolated(), { env: { "A-B": "x" } }, /"A-B" is not a name/],
    [testIsolated(), { usesSudo: "yes" }, /`usesSudo`.*true or false/],
  ])("%j with %j", async (provider, options, message) => {
    const error = await failureOf(createStandaloneSandbox(provider as SandboxProvider, options as object));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toMatch(message);
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  it("of a sandbox that is there", () =>
    withSandbox(testIsolated(), async (sandbox) => {
      const wrong: [() => Promise<unknown>, RegExp][] = [
        [() => sandbox.run(""), /`command`/],
        [() => sandbox.run("true", { timeout: 5 } as object), /`timeout`.*no such option/],
        [() => sandbox.run("true", { timeoutMs: -1 }), /`timeoutMs`/],
        [() => sandbox.run("true", { cwd: "../.." }), /`cwd`.*leaves the directory/],
        [() => sandbox.run("true", { sudo: true }), /`sudo`.*usesSudo: true/],
        [() => sandbox.readFile("../x"), /`path`.*leaves the directory/],
        [() => sandbox.writeFile("x", 5 as never), /`content`/],
        [() => sandbox.writeFile("", "x"), /`path`/],
      ];
      for (const [attempt, message] of wrong) {
        const error = await failureOf(attempt());
        expect(error).toBeInstanceOf(InvalidOptionsError);
        expect(error.message).toMatch(message);
      }
    }));
});
