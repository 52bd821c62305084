import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, it, vi } from "vitest";
import { createStandaloneSandbox } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { runCli } from "../../cli/callCli.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { useProgram } from "./killedPrograms.ts";

useOwnTemporaryDirectory();

type Sandbox = "test-isolated" | "bubblewrap" | "docker";
type End = "end" | "exit" | "throw" | "SIGINT" | "SIGKILL";

interface Ended {
  /** What the sandbox was called. */
  readonly name: string;
  readonly exitCode: number | null;
  /** Where the process had its temporary files. */
  readonly temporary: string;
}

const program = useProgram("standaloneUntilKilled.ts");

/** A process that makes a sandbox and does not terminate it. */
const forgetSandbox = async (sandbox: Sandbox, end: End): Promise<Ended> => {
  const temporary = temporaryDirectory();
  const isKilled = end === "SIGINT" || end === "SIGKILL";
  const child = spawn(process.execPath, [program(), sandbox, TEST_IMAGE, isKilled ? "hang" : end], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exit = once(child, "exit");
  const [name] = (await once(createInterface(child.stdout), "line")) as [string];
  if (isKilled) child.kill(end);
  const [exitCode] = (await exit) as [number | null];
  return { name, exitCode, temporary };
};

/** That of the sandbox, and that of its process. */
const hasDirectories = ({ name, temporary }: Ended): boolean => {
  const runId = name.replace(/^sanddune-/, "");
  return readdirSync(temporary).filter((entry) => entry.endsWith(runId)).length === 2;
};

const containers = (name: string): string =>
  execFileSync("docker", ["ps", "--all", "--quiet", "--filter", `name=${name}`], { encoding: "utf8" });

const expectEndedWithProcess = async (sandbox: Sandbox, isThere: (ended: Ended) => boolean) => {
  const ended = await forgetSandbox(sandbox, "end");
  expect(ended.exitCode).toBe(0);
  expect(isThere(ended)).toBe(false);
  expect(readdirSync(ended.temporary)).toEqual([]);
};

const expectRemovedByNext = async (sandbox: Sandbox, end: End, isThere: (ended: Ended) => boolean) => {
  const ended = await forgetSandbox(sandbox, end);
  expect(isThere(ended)).toBe(true);
  vi.stubEnv("TMPDIR", ended.temporary);
  try {
    await using _next = await createStandaloneSandbox(testIsolated());
    expect(isThere(ended)).toBe(false);
  } finally {
    vi.unstubAllEnvs();
  }
  expect(readdirSync(ended.temporary)).toEqual([]);
};

const expectFoundByClean = async (sandbox: Sandbox, cwd: string, isThere: (ended: Ended) => boolean) => {
  const ended = await forgetSandbox(sandbox, "SIGKILL");
  const clean = async (...flags: string[]) => {
    const { stdout } = await runCli(["clean", "--json", ...flags], {
      cwd,
      env: { TMPDIR: ended.temporary },
    });
    return JSON.parse(stdout) as { outcome: string; what: string; name: string; runIds: string[] }[];
  };
  const [found, ...others] = await clean();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ outcome: "wouldBeRemoved", what: "sandbox" });
  expect(found?.name).toContain(ended.name);
  expect(isThere(ended)).toBe(true);
  expect(await clean("--yes")).toMatchObject([{ outcome: "removed", name: found?.name }]);
  expect(isThere(ended)).toBe(false);
  expect(readdirSync(ended.temporary)).toEqual([]);
  expect(await clean("--yes")).toEqual([]);
};

describe("a standalone sandbox in a directory", () => {
  it("is terminated when its process ends by itself", () =>
    expectEndedWithProcess("test-isolated", hasDirectories));

  it.each<End>(["exit", "throw", "SIGINT", "SIGKILL"])(
    "is removed by the next one if its process ends by %s",
    (end) => expectRemovedByNext("test-isolated", end, hasDirectories),
  );

  it.each([
    ["in a repository", temporaryRepository],
    ["outside of one", temporaryDirectory],
  ])("is found by clean, %s, if its process was killed", (_, makeDirectory) =>
    expectFoundByClean("test-isolated", makeDirectory(), hasDirectories),
  );
});

describeWith(["bubblewrap"], "a standalone bubblewrap sandbox", () => {
  it("is removed by the next one if its process was killed", () =>
    expectRemovedByNext("bubblewrap", "SIGKILL", hasDirectories));
});

describeWith(["docker"], "a standalone container", () => {
  const isThere = ({ name }: Ended) => containers(name) !== "";

  it("is terminated when its process ends by itself", () => expectEndedWithProcess("docker", isThere));

  it("is removed by the next one if its process was killed", () =>
    expectRemovedByNext("docker", "SIGKILL", isThere));

  it("is kept by clean, with the reason, while docker is unavailable, and is found afterwards", async () => {
    const ended = await forgetSandbox("docker", "SIGKILL");
    const clean = (env: Readonly<Record<string, string>> = {}) =>
      runCli(["clean", "--yes"], {
        cwd: temporaryRepository(),
        env: { TMPDIR: ended.temporary, ...env },
      });
    const { exitCode, stdout } = await clean({ DOCKER_HOST: "unix:///nowhere/docker.sock" });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Kept:/m);
    expect(stdout).toMatch(/docker sandbox is not available/);
    expect(isThere(ended)).toBe(true);
    await clean();
    expect(isThere(ended)).toBe(false);
    expect(readdirSync(ended.temporary)).toEqual([]);
  });
});
