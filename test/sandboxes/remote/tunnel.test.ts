import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { parseRemoteHost, type SshHost } from "../../../src/sandboxes/remote/remoteHost.ts";
import { tunnelTo } from "../../../src/sandboxes/remote/tunnel.ts";
import { bundle } from "../../helpers/bundle.ts";
import { commandLines } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { type Sshd, startSshd } from "../../helpers/runtimes/sshd.ts";

/** Puts programs on the PATH for as long as the test lasts. */
const addToPath = (directory: string): void => {
  const path = process.env["PATH"];
  process.env["PATH"] = `${directory}:${path}`;
  onTestFinished(() => {
    process.env["PATH"] = path;
  });
};

/** A server for logins, whose client is on the PATH for as long as the test lasts. */
const sshd = async (...settings: string[]): Promise<Sshd> => {
  const server = await startSshd(...settings);
  addToPath(server.clientPath);
  onTestFinished(() => server.stop());
  return server;
};

/** What listens on the other machine: it says hello to everybody. */
const greeter = async (): Promise<string> => {
  const path = join(temporaryDirectory(), "greeter");
  const server = createServer((socket) => socket.on("error", () => {}).end("hello"));
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return path;
};

const hostOf = ({ address }: Sshd): SshHost => parseRemoteHost(address) as SshHost;

const greetingAt = (path: string): Promise<string> => text(connect(path).on("error", () => {}));

/** The command lines of all processes that have this in them. */
const commandsWith = (mark: string): string[] => commandLines().filter((line) => line.includes(mark));

test("an ssh that made no socket and does not end is not waited for", async () => {
  const directory = temporaryDirectory();
  const script = "trap '' TERM\necho sanddune-is-open\nwhile [ -e \"$0\" ]; do sleep 0.1; done";
  writeFileSync(join(directory, "ssh"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  addToPath(directory);
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const host = parseRemoteHost("ssh://machine") as SshHost;
  await expect(tunnelTo(host, "/nowhere").open()).rejects.toThrow("ssh made no socket");
});

describeWith(["sshd"], "the way to an engine on another machine", () => {
  test("is one login, however many want to go", async () => {
    const server = await sshd();
    const tunnel = tunnelTo(hostOf(server), await greeter());
    await Promise.all(Array.from({ length: 20 }, () => tunnel.open()));
    const greetings = await Promise.all(Array.from({ length: 40 }, () => greetingAt(tunnel.socketPath)));
    expect(new Set(greetings)).toEqual(new Set(["hello"]));
    expect(server.logins()).toBe(1);
  });

  test("is made anew when it has broken", async () => {
    const server = await sshd();
    const tunnel = tunnelTo(hostOf(server), await greeter());
    await tunnel.open();
    const { socketPath } = tunnel;
    server.cut();
    await waitFor(() => !existsSync(dirname(socketPath)));
    await tunnel.open();
    expect(await greetingAt(tunnel.socketPath)).toBe("hello");
    expect(server.logins()).toBe(2);
    // Somebody else may have taken the place in the meantime.
    expect(tunnel.socketPath).not.toBe(socketPath);
  });

  test("is found although the server turns down some of many logins at a time", async () => {
    const server = await sshd("MaxStartups 2:100:2");
    const path = await greeter();
    // To sshd each is somebody else.
    const hosts = Array.from({ length: 8 }, (_, index) => ({
      ...hostOf(server),
      url: `${server.address}#${index}`,
    }));
    await Promise.all(hosts.map((host) => tunnelTo(host, path).open()));
    expect(server.logins()).toBe(8);
    expect(server.log()).toMatch(/past MaxStartups|drop connection/);
  });

  test("is refused with what ssh said", async () => {
    const server = await sshd();
    rmSync(join(server.clientPath, "../key"));
    await expect(tunnelTo(hostOf(server), "/nowhere").open()).rejects.toThrow(
      /Permission denied \(publickey\)/,
    );
    const { machine, user } = hostOf(server);
    const nobody: SshHost = { type: "ssh", url: "x", machine, user, port: "1", socketPath: undefined };
    await expect(tunnelTo(nobody, "/nowhere").open()).rejects.toThrow(/Connection refused/);
  });

  test("is gone, with its files, when the process that wanted it is killed", async () => {
    const server = await sshd();
    const program = bundle(join(import.meta.dirname, "../fixtures/holdTunnel.ts"), temporaryDirectory());
    const child = spawn(process.execPath, [program, server.address, await greeter()], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    const socketPath = said.toString().trim();
    expect(await greetingAt(socketPath)).toBe("hello");
    expect(commandsWith(socketPath)).not.toEqual([]);
    child.kill("SIGKILL");
    await waitFor(() => commandsWith(dirname(socketPath)).length === 0);
    await waitFor(() => !existsSync(dirname(socketPath)));
  });
});
