import { describe, expect, it, test } from "vitest";
import { InvalidOptionsError } from "../../../src/errors.ts";
import type { RemoteContainerOptions } from "../../../src/sandboxes/containers/options.ts";
import { findLeftovers } from "../../../src/sandboxes/registry.ts";
import { parseRemoteHost } from "../../../src/sandboxes/remote/remoteHost.ts";
import { ENGINES } from "../containers/containers.ts";

test.each([
  ["tcp://10.1.2.3:2376", { type: "tcp", url: "tcp://10.1.2.3:2376" }],
  ["tcp://[::1]:2376/", { type: "tcp", url: "tcp://[::1]:2376" }],
  ["ssh://machine", { type: "ssh", machine: "machine", user: undefined, port: undefined }],
  ["ssh://me@machine.example:2222", { machine: "machine.example", user: "me", port: "2222" }],
  ["ssh://me@[fe80::1]:22/run/user/1000/podman/podman.sock", { machine: "fe80::1", port: "22" }],
  ["ssh://me@machine/run/docker.sock", { socketPath: "/run/docker.sock" }],
])("%s is the address of an engine", (text, parts) => {
  expect(parseRemoteHost(text)).toMatchObject(parts);
});

/** What is no address: nothing of it may reach a program, least of all as an option. */
const NO_ADDRESSES = [
  "",
  "machine",
  "-oProxyCommand=id",
  "--context=x",
  "ssh://-oProxyCommand=id",
  "ssh://-l@machine",
  "ssh://me:secret@machine",
  "ssh://machine:0",
  "ssh://machine:70000",
  "ssh://machine/run/a b",
  "ssh://machine/$(id)",
  "ssh://machine?x",
  "ssh://machine\n",
  "tcp://machine",
  "tcp://machine:2375/path",
  "tcp://me@machine:2375",
  "tcp://machine:2375\n--tls",
  "unix:///var/run/docker.sock",
  "http://machine:2375",
  "npipe:////./pipe/docker",
];

test.each(NO_ADDRESSES)("%j is none", (text) => {
  expect(parseRemoteHost(text)).toBeUndefined();
});

const problemOf = (make: () => unknown): InvalidOptionsError => {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionsError);
    return error as InvalidOptionsError;
  }
  throw new Error("nothing was wrong");
};

describe.each(ENGINES)("%s on other machines", (engine, provider) => {
  const given = (options: unknown) => () => provider(options as RemoteContainerOptions);

  it("refuses a malformed address before anything is done", () => {
    for (const host of [...NO_ADDRESSES, 7, null, ["tcp://machine:1", "-x"]]) {
      const { option, problem } = problemOf(given({ host }));
      expect(option).toBe("host");
      expect(problem).toContain("ssh://user@machine");
    }
    expect(problemOf(given({ host: [] })).problem).toMatch(/empty list/);
  });

  it("refuses what is about files of this machine", () => {
    const local = { mounts: [], allowUnsafeMounts: true, selinuxLabel: "z" };
    for (const [option, value] of Object.entries(local)) {
      const error = problemOf(given({ host: "tcp://machine:2376", [option]: value }));
      expect(error.option).toBe(option);
      expect(error.message).toMatch(/`host`/);
    }
  });

  it("refuses a lease that no heartbeat could renew, and one without another machine", () => {
    for (const option of ["leaseMs", "lifetimeMs"]) {
      for (const value of [0, -1, 5000, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(problemOf(given({ host: "tcp://machine:2376", [option]: value })).option).toBe(option);
      }
      expect(problemOf(given({ [option]: 60_000 })).message).toMatch(/needs `host`/);
    }
  });

  it("is an isolated sandbox provider, and without `host` a bind-mount one", () => {
    expect(provider({ host: "tcp://machine:2376" }).type).toBe("isolated");
    expect(provider({ host: ["ssh://one", "ssh://two"] }).type).toBe("isolated");
    expect(provider().type).toBe("bind-mount");
  });

  it("does not believe a journal whose place is no address", async () => {
    const leftovers = await findLeftovers(engine);
    for (const place of NO_ADDRESSES) {
      const left = { sandboxName: "x", runId: "x", temporaryDirectory: "/tmp", place };
      await expect(leftovers?.find(left)).rejects.toThrow(/not the address of an engine/);
      await expect(leftovers?.remove(left)).rejects.toThrow(/not the address of an engine/);
    }
  });
});
