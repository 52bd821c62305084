import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { startCompanion } from "../../process/companion.ts";
import { BoundedCapture } from "../../tools/boundedCapture.ts";
import type { SshHost } from "./remoteHost.ts";

const OPEN_TIMEOUT_MS = 20_000;
const COMPLAINT_BYTES = 4096;
const IS_OPEN = "sanddune-is-open";

const sshArguments = (host: SshHost, socketPath: string, remoteSocketPath: string): string[] => [
  // No shell, no terminal, no forwarding from this machine, and no prompts.
  ...["-N", "-T", "-a", "-x"],
  ...["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=10", "ServerAliveCountMax=3"].flatMap(
    (option) => ["-o", option],
  ),
  // Not shared with other programs, so that it can be closed.
  ...["-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "RemoteCommand=none"],
  ...["-o", "PermitLocalCommand=yes", "-o", `LocalCommand=echo ${IS_OPEN}`],
  ...["-L", `${socketPath}:${host.socketPath ?? remoteSocketPath}`],
  ...(host.user === undefined ? [] : ["-l", host.user]),
  ...(host.port === undefined ? [] : ["-p", host.port]),
  "--",
  host.machine,
];

/** An ssh connection between a socket on this machine and one on the other. */
export interface SshConnection {
  readonly socketPath: string;
  /** Rejects with ssh's error. */
  readonly isOpen: Promise<void>;
  readonly isOver: Promise<void>;
  /** The errors that ssh has printed. */
  complaints(): string;
  stop(): void;
}

/** Starts to connect. The socket's directory is made, and removed with the connection. */
export const connectBySsh = (host: SshHost, socketPath: string, remoteSocketPath: string): SshConnection => {
  const directory = dirname(socketPath);
  mkdirSync(directory, { mode: 0o700 });
  const complaints = new BoundedCapture(COMPLAINT_BYTES);
  const said = new BoundedCapture(IS_OPEN.length * 2);
  let tell = () => {};
  const { isOver, stop } = startCompanion({
    program: "ssh",
    args: sshArguments(host, socketPath, remoteSocketPath),
    directory,
    onStderrChunk: (chunk) => complaints.push(chunk),
    onStdoutChunk: (chunk) => {
      said.push(chunk);
      if (said.text().includes(IS_OPEN)) tell();
    },
  });
  const isOpen = new Promise<void>((resolve, reject) => {
    const fail = (problem: string) => {
      clearTimeout(timeout);
      stop();
      reject(new Error(complaints.text().trim() || problem));
    };
    const timeout = setTimeout(
      () => fail(`ssh did not connect within ${OPEN_TIMEOUT_MS} ms`),
      OPEN_TIMEOUT_MS,
    );
    tell = () => {
      if (!existsSync(socketPath)) return fail("ssh made no socket");
      clearTimeout(timeout);
      resolve();
    };
    void isOver.then(fail);
  });
  isOpen.catch(() => {});
  return {
    socketPath,
    isOpen,
    isOver: isOver.then(() => {}),
    complaints: () => complaints.text().trim(),
    stop,
  };
};
