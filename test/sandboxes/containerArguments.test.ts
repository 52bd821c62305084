import { expect, test } from "vitest";
import {
  type ContainerPlan,
  containerRunArguments,
  defaultImage,
  mountArguments,
} from "../../src/sandboxes/containerArguments.ts";

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
  expect(mountArguments(mount, false)).toEqual([
    "--mount",
    'type=bind,"src=/a,b""c",dst=/plain:colon,readonly',
  ]);
  expect(mountArguments({ ...mount, hostPath: "/a" }, "Z")).toEqual(["--volume", "/a:/plain:colon:ro,Z"]);
});

test("the default image is named after the repository's directory", () => {
  expect(defaultImage("/home/me/My App (2)")).toBe("sanddune:my-app-2-");
  expect(defaultImage("/home/me/.dotfiles/")).toBe("sanddune:dotfiles");
  expect(defaultImage("/")).toBe("sanddune:repository");
});
