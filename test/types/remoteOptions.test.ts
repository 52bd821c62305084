// What the compiler must refuse; see options.test.ts.
import { expect, expectTypeOf, it } from "vitest";
import { command, run } from "../../src/index.ts";
import type { BindMountSandboxProvider, IsolatedSandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker, type RemoteDockerOptions } from "../../src/sandboxes/docker.ts";
import { podman } from "../../src/sandboxes/podman.ts";

const host = "ssh://me@machine";

it("with `host` the sandbox is isolated, and without it sees the host's files", () => {
  expectTypeOf(docker()).toEqualTypeOf<BindMountSandboxProvider>();
  expectTypeOf(docker({ memory: "4g" })).toEqualTypeOf<BindMountSandboxProvider>();
  expectTypeOf(docker({ host })).toEqualTypeOf<IsolatedSandboxProvider>();
  expectTypeOf(
    podman({ host: [host, "tcp://machine:2376"], leaseMs: 60_000 }),
  ).toEqualTypeOf<IsolatedSandboxProvider>();
  const options: RemoteDockerOptions = { host, imageName: "image" };
  expectTypeOf(docker(options)).toEqualTypeOf<IsolatedSandboxProvider>();
});

it("what is about the host's files does not compile with `host`, and a lease does not without it", () => {
  const agent = command("true");
  const cases = [
    // @ts-expect-error an engine on another machine sees no files of the host
    () => docker({ host, mounts: [{ hostPath: "~/.npm", sandboxPath: "/npm" }] }),
    // @ts-expect-error nor has it bind mounts to be labelled
    () => podman({ host, selinuxLabel: "z" }),
    // @ts-expect-error a container of this machine ends with its sandbox
    () => docker({ leaseMs: 60_000 }),
    // @ts-expect-error an isolated sandbox has no host directory to work in
    () => run({ agent, sandbox: docker({ host }), prompt: "x", branchStrategy: { type: "head" } }),
  ];
  expect(cases).toHaveLength(4);
});
