import type { Hooks, SandboxHook } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

export const HOOK_NAMES = ["host.onWorktreeReady", "host.onSandboxReady", "sandbox.onSandboxReady"] as const;
export type HookName = (typeof HOOK_NAMES)[number];

/** The `hooks` option with hooks at one moment. */
export const hooksAt = (name: HookName, ...list: readonly SandboxHook[]): Hooks => {
  const [place, moment] = name.split(".") as ["host" | "sandbox", string];
  return { [place]: { [moment]: list } };
};

/** A directory that hooks of every kind see at the same path, and sandboxes that show it. */
export const hookScene = () => {
  const directory = temporaryDirectory();
  const mounts = [{ hostPath: directory, sandboxPath: directory }];
  const sandboxes: Record<"bubblewrap" | "isolated" | "docker", () => SandboxProvider> = {
    bubblewrap: () => bubblewrap({ mounts }),
    isolated: () => testIsolated(),
    docker: () => docker({ imageName: TEST_IMAGE, mounts }),
  };
  return { directory, sandboxes };
};

let marks = 0;
export const newMark = (): string => `hook-mark-${process.pid}-${++marks}`;

/** A line that starts processes that are hard to end: deaf to signals, in sessions of their own, forked twice. */
export const hardToEnd = (mark: string): string => {
  const deaf = `trap "" TERM HUP INT; while :; do sleep 60; done # ${mark}`;
  const quiet = ">/dev/null 2>&1 </dev/null";
  return [
    `sh -c '${deaf}' ${quiet} &`,
    `setsid sh -c '${deaf}' ${quiet} &`,
    `(setsid sh -c '(trap "" TERM HUP; while :; do sleep 60; done & ) # ${mark}' ${quiet} &)`,
  ].join("\n");
};
/** How many processes `hardToEnd` leaves running, at the least. */
export const HARD_TO_END = 3;
