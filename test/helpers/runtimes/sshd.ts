import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { findProgram } from "../../../src/process/hostPrograms.ts";
import { commandLines } from "../processes/processes.ts";
import { waitFor } from "../processes/waiting.ts";
import { isRoot } from "./runtimes.ts";

export const SSHD = "/usr/sbin/sshd";

/** A server for logins on this machine's loopback. */
export interface Sshd {
  /** `ssh://user@machine:port` */
  readonly address: string;
  /** A directory with an `ssh` in it that knows the server and has a key for it: to be put in front of PATH. */
  readonly clientPath: string;
  /** What the server has written down. */
  log(): string;
  /** How many logins it has let in so far. */
  logins(): number;
  /** Ends all connections, and goes on to listen. */
  cut(): void;
  /** How many clients have a connection, or believe to. */
  clients(): number;
  stop(): Promise<void>;
}

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

/** Starts Debian's sshd with keys of its own, for the user that the tests run as. `settings` are lines of its config. */
export const startSshd = async (...settings: string[]): Promise<Sshd> => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-sshd-")));
  const path = (name: string) => join(directory, name);
  const { username } = userInfo();
  for (const key of ["host_key", "key"]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path(key)]);
  }
  const port = await freePort();
  writeFileSync(path("authorized_keys"), readFileSync(path("key.pub")));
  writeFileSync(path("known_hosts"), `[127.0.0.1]:${port} ${readFileSync(path("host_key.pub"), "utf8")}`);
  writeFileSync(
    path("sshd_config"),
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${path("host_key")}`,
      `AuthorizedKeysFile ${path("authorized_keys")}`,
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin yes",
      "StrictModes no",
      "UsePAM no",
      "PidFile none",
      ...settings,
      "",
    ].join("\n"),
  );
  writeFileSync(
    path("ssh_config"),
    [
      "Host *",
      `  IdentityFile ${path("key")}`,
      "  IdentitiesOnly yes",
      `  UserKnownHostsFile ${path("known_hosts")}`,
      "  StrictHostKeyChecking yes",
      "",
    ].join("\n"),
  );
  mkdirSync(path("bin"));
  writeFileSync(path("bin/ssh"), `#!/bin/sh\nexec ${findProgram("ssh")} -F ${path("ssh_config")} "$@"\n`);
  chmodSync(path("bin/ssh"), 0o755);
  // Where root's sshd locks itself in; it does not make it by itself.
  if (isRoot && !existsSync("/run/sshd")) mkdirSync("/run/sshd", { mode: 0o755 });

  const child: ChildProcess = spawn(SSHD, ["-D", "-f", path("sshd_config"), "-E", path("log")], {
    stdio: "ignore",
  });
  const log = () => (existsSync(path("log")) ? readFileSync(path("log"), "utf8") : "");
  await waitFor(() => {
    if (child.exitCode !== null) throw new Error(`sshd ended: ${log()}`);
    return log().includes("Server listening on 127.0.0.1");
  });
  const cut = () => {
    for (const pid of childrenOf(child.pid as number)) {
      for (const each of [pid, ...childrenOf(pid)]) process.kill(each, "SIGKILL");
    }
  };
  return {
    address: `ssh://${username}@127.0.0.1:${port}`,
    clientPath: path("bin"),
    log,
    logins: () => log().split("Accepted publickey").length - 1,
    cut,
    clients: () => commandLines().filter((line) => line.includes(`\0-p\0${port}\0`)).length,
    stop: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
