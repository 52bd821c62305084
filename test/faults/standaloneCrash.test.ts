import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, vi } from "vitest";
import { createSandboxHandle } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { runCli } from "../cli/startCli.ts";
import { bundle } from "../helpers/bundle.ts";
import { useOwnTemporaryDirectory } from "../helpers/ownTemporaryDirectory.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";

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

/** A process that makes a sandbox and does not terminate it. */
const forgetSandbox = async (sandbox: Sandbox, end: End): Promise<Ended> => {
  const program = bundle(join(import.meta.dirname, "standaloneUntilKilled.ts"));
  const temporary = temporaryDirectory();
  const isKilled = end === "SIGINT" || end === "SIGKILL";
  const child = spawn(process.execPath, [program, sandbox, TEST_IMAGE, isKilled ? "hang" : end], {
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

const promises = (sandbox: Sandbox, isThere: (ended: Ended) => boolean): void => {
  it("is terminated with a process that comes to its end", async () => {
    const ended = await forgetSandbox(sandbox, "end");
    expect(ended.exitCode).toBe(0);
    expect(isThere(ended)).toBe(false);
    expect(readdirSync(ended.temporary)).toEqual([]);
  });

  it.each<End>(["exit", "throw", "SIGINT", "SIGKILL"])(
    "is removed by the next one if its process ends by %s",
    async (end) => {
      const ended = await forgetSandbox(sandbox, end);
      expect(isThere(ended)).toBe(true);
      vi.stubEnv("TMPDIR", ended.temporary);
      try {
        await using _next = await createSandboxHandle(testIsolated());
        expect(isThere(ended)).toBe(false);
      } finally {
        vi.unstubAllEnvs();
      }
      expect(readdirSync(ended.temporary)).toEqual([]);
    },
  );

  it.each([
    ["in a repository", temporaryRepository],
    ["outside of one", temporaryDirectory],
  ])("is found by clean, %s, if its process was killed", async (_, makeDirectory) => {
    const ended = await forgetSandbox(sandbox, "SIGKILL");
    const cwd = makeDirectory();
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
  });
};

describe("a standalone sandbox in a directory", () => promises("test-isolated", hasDirectories));

describeWith(["bubblewrap"], "a standalone bubblewrap sandbox", () => promises("bubblewrap", hasDirectories));

describeWith(["docker"], "a standalone container", () => {
  promises("docker", ({ name }) => containers(name) !== "");

  it("is kept by clean, with the reason, while docker cannot be asked", async () => {
    const ended = await forgetSandbox("docker", "SIGKILL");
    const env = { TMPDIR: ended.temporary, DOCKER_HOST: "unix:///nowhere/docker.sock" };
    const { exitCode, stdout } = await runCli(["clean", "--yes"], { cwd: temporaryRepository(), env });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Kept:/m);
    expect(stdout).toMatch(/docker sandbox is not available/);
    expect(containers(ended.name)).not.toBe("");
    await runCli(["clean", "--yes"], { cwd: temporaryRepository(), env: { TMPDIR: ended.temporary } });
    expect(containers(ended.name)).toBe("");
  });
});
