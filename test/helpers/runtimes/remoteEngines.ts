import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { processesWith } from "../processes/processes.ts";
import { waitFor } from "../processes/waiting.ts";
import { type Sshd, startSshd } from "./sshd.ts";
import { openTcpRelay, type TcpRelay } from "./tcpRelay.ts";

/** The socket of the Docker daemon that the tests use. */
export const dockerSocket = (): string =>
  (process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");

/** For every command that was run by the service, a process waits for minutes, in case somebody asks how that has ended. */
const killProcessesOf = (directory: string): void => {
  for (const pid of processesWith(directory, "environ")) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
};

/** Podman's engine, as a service behind a socket. */
export const startPodmanService = async () => {
  const directory = mkdtempSync(join(tmpdir(), "sanddune-podman-"));
  const socketPath = join(directory, "podman.sock");
  const child = spawn("podman", ["system", "service", "--time", "0", `unix://${socketPath}`], {
    stdio: "ignore",
    // Of its environment, the programs that it starts have little else.
    env: { ...process.env, PATH: `${process.env["PATH"]}:${directory}` },
  });
  await waitFor(() => {
    if (child.exitCode !== null) throw new Error(`podman system service ended with ${child.exitCode}`);
    return existsSync(socketPath);
  });
  return {
    socketPath,
    stop: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      killProcessesOf(directory);
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

/** A port to the Docker daemon, for the tests of a suite. */
export const useTcpRelay = (): (() => TcpRelay) => {
  let relay: TcpRelay | undefined;
  beforeAll(async () => {
    relay = await openTcpRelay(dockerSocket());
  });
  afterAll(() => relay?.close());
  return () => relay as TcpRelay;
};

/** A server for logins, for the tests of a suite, which have its client on their PATH. */
export const useSshd = (): (() => Sshd) => {
  let sshd: Sshd | undefined;
  const path = process.env["PATH"];
  beforeAll(async () => {
    sshd = await startSshd();
    process.env["PATH"] = `${sshd.clientPath}:${path}`;
  });
  afterAll(async () => {
    process.env["PATH"] = path;
    await sshd?.stop();
  });
  return () => sshd as Sshd;
};
