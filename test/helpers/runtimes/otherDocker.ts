import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { killProcess } from "../processes/killProcess.ts";
import { TEST_IMAGE } from "./runtimes.ts";

const SCRIPT = join(import.meta.dirname, "../../../scripts/runtimes/other-docker");

/** One more Docker daemon of this machine, with the test image. */
export interface OtherDocker {
  readonly socketPath: string;
  /** Calls its client; fails when that does. */
  call(...args: readonly string[]): string;
  /** Kills the daemon, which cannot tidy up then. */
  kill(): void;
}

/** For the tests of a suite. */
export const useOtherDocker = (): (() => OtherDocker) => {
  let daemon: OtherDocker | undefined;
  let directory: string;
  beforeAll(() => {
    // Beside the directory for temporary files: sockets have short names.
    directory = mkdtempSync(join(dirname(tmpdir()), "other-"));
    const host = execFileSync(SCRIPT, ["start", directory], { encoding: "utf8" }).trim();
    const call = (...args: readonly string[]) =>
      execFileSync("docker", ["--host", host, ...args], { encoding: "utf8" }).trim();
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", 'docker save "$1" | docker --host "$2" load', "sh", TEST_IMAGE, host],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(stderr);
    daemon = {
      socketPath: host.replace(/^unix:\/\//, ""),
      call,
      kill: () => killProcess(readFileSync(join(directory, "run/docker.pid"), "utf8")),
    };
  }, 120_000);
  afterAll(() => {
    execFileSync(SCRIPT, ["stop", directory]);
  }, 120_000);
  return () => daemon as OtherDocker;
};
