import { expect, test } from "vitest";
import {
  type BubblewrapPlan,
  bubblewrapArguments,
  VISIBLE_ETC,
} from "../../../src/sandboxes/bubblewrap/arguments.ts";

const plan: BubblewrapPlan = {
  sandboxName: "name",
  rootDirectories: [{ name: "bin", linkTarget: "usr/bin" }, { name: "lib" }],
  temporaryPath: "/host/tmp",
  homeHostPath: "/host/home",
  homePath: "/sanddune/home",
  path: "/usr/bin:/bin",
  network: false,
  readOnlyPaths: ["/opt/tool"],
  mounts: [
    { hostPath: "/host/repo", sandboxPath: "/repo", readOnly: false },
    { hostPath: "/host/objects", sandboxPath: "/repo/objects", readOnly: true },
  ],
  terminal: false,
};

const text = (overrides: Partial<BubblewrapPlan> = {}) =>
  bubblewrapArguments({ ...plan, ...overrides }).join(" ");

test("everything is unshared, the network included unless it is asked for", () => {
  expect(text()).toMatch(/^--unshare-all --die-with-parent --new-session --cap-drop ALL /);
  expect(text()).not.toContain("--share-net");
  expect(text({ network: true })).toContain("--share-net");
});

test("directories at the root look as they do on the host", () => {
  expect(text()).toContain("--symlink usr/bin /bin --ro-bind /lib /lib");
});

test("mounts keep their order and come after what sanddune mounts itself", () => {
  expect(text()).toMatch(
    /--ro-bind \/opt\/tool \/opt\/tool --bind \/host\/home \/sanddune\/home --bind \/host\/repo \/repo --ro-bind \/host\/objects \/repo\/objects --remount-ro \/ --chdir \/$/,
  );
});

test.each([
  "shadow",
  "gshadow",
  "sudoers",
  "sudoers.d",
  "ssh",
  "ssl",
  "ssl/private",
  "pki",
  "gitconfig",
  "environment",
])("/etc/%s is not shown", (entry) => {
  expect(VISIBLE_ETC).not.toContain(entry);
});
