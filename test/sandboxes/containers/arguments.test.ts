import { describe, expect, test } from "vitest";
import {
  type ContainerPlan,
  containerRunArguments,
  defaultImage,
  mountArguments,
} from "../../../src/sandboxes/containers/arguments.ts";
import { dockerEngine } from "../../../src/sandboxes/containers/dockerEngine.ts";
import { podmanEngine } from "../../../src/sandboxes/containers/podmanEngine.ts";

const plan: ContainerPlan = {
  sandboxName: "name",
  runId: "run",
  repositoryPath: "/repo",
  labels: { owner: "me" },
  image: "image:tag",
  user: { user: "501:20", runArguments: ["--userns", "keep-id"] },
  homePath: "/home",
  mounts: [{ hostPath: "/a", sandboxPath: "/b", readOnly: true }],
  selinuxLabel: false,
  mountSetsLabels: false,
  overlayArguments: dockerEngine.overlayArguments,
  network: undefined,
  memory: undefined,
  cpus: undefined,
  pids: 10,
  capabilities: [],
  extraArgs: [],
};

const valuesOf = (args: readonly string[], flag: string): string[] =>
  args.flatMap((arg, index) => (arg === flag ? [args[index + 1] as string] : []));

test("a container is named, labelled, and has no capabilities", () => {
  const args = containerRunArguments(plan);
  expect(valuesOf(args, "--name")).toEqual(["name"]);
  expect(valuesOf(args, "--label")).toEqual([
    "sanddune.run=run",
    "sanddune.repository=/repo",
    "sanddune.owner=me",
  ]);
  expect(valuesOf(args, "--cap-drop")).toEqual(["ALL"]);
  expect(valuesOf(args, "--security-opt")).toEqual(["no-new-privileges"]);
  expect(valuesOf(args, "--pull")).toEqual(["never"]);
  expect(valuesOf(args, "--userns")).toEqual(["keep-id"]);
});

test("limits, networks and capabilities are passed only when they are set", () => {
  const bare = containerRunArguments(plan);
  for (const flag of ["--memory", "--cpus", "--network", "--cap-add"]) expect(bare).not.toContain(flag);
  const args = containerRunArguments({
    ...plan,
    network: "none",
    memory: "1g",
    cpus: 1.5,
    capabilities: ["CHOWN", "SETUID"],
    extraArgs: ["--gpus", "all"],
  });
  expect(valuesOf(args, "--memory")).toEqual(["1g"]);
  expect(valuesOf(args, "--memory-swap")).toEqual(["1g"]);
  expect(valuesOf(args, "--cpus")).toEqual(["1.5"]);
  expect(valuesOf(args, "--network")).toEqual(["none"]);
  expect(valuesOf(args, "--cap-add")).toEqual(["CHOWN", "SETUID"]);
  expect(args.indexOf("--gpus")).toBeLessThan(args.indexOf("image:tag"));
});

test("the user's name and home are told to the container, unless the image knows the user", () => {
  expect(containerRunArguments(plan).slice(-3)).toEqual(["501", "20", "/home"]);
  const named = containerRunArguments({ ...plan, user: { user: "agent", runArguments: [] } });
  expect(named.at(-1)).toBe("sanddune");
});

test("mounts are quoted for the comma-separated list that they are", () => {
  const mount = { hostPath: '/a,b"c', sandboxPath: "/plain:colon", readOnly: true };
  expect(mountArguments(mount, plan)).toEqual([
    "--mount",
    'type=bind,"src=/a,b""c",dst=/plain:colon,readonly',
  ]);
});

describe("mounts with an SELinux label", () => {
  const mount = { hostPath: "/a", sandboxPath: "/b", readOnly: true };
  const docker = { selinuxLabel: "Z", ...dockerEngine } as const;

  test("are volumes for Docker, whose --mount has no labels", () => {
    expect(mountArguments(mount, docker)).toEqual(["--volume", "/a:/b:ro,Z"]);
  });

  test.each(["hostPath", "sandboxPath"] as const)("are refused by Docker with a colon in the %s", (path) => {
    expect(() => mountArguments({ ...mount, [path]: "/with:colon" }, docker)).toThrow(
      /`selinuxLabel`: docker cannot label \/with:colon, because there is a colon in it/,
    );
  });

  test("may have a colon in their paths with Podman", () => {
    const podman = { selinuxLabel: "z", ...podmanEngine } as const;
    expect(mountArguments({ ...mount, hostPath: "/with:colon" }, podman)).toEqual([
      "--mount",
      "type=bind,src=/with:colon,dst=/b,readonly,relabel=shared",
    ]);
    expect(mountArguments(mount, { ...podman, selinuxLabel: "Z" }).at(-1)).toContain("relabel=private");
  });
});

test("the default image is named after the repository's directory", () => {
  expect(defaultImage("/home/me/My App (2)")).toBe("sanddune:my-app-2-");
  expect(defaultImage("/home/me/.dotfiles/")).toBe("sanddune:dotfiles");
  expect(defaultImage("/")).toBe("sanddune:repository");
});
