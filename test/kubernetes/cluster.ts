import { execFile, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, onTestFinished, test } from "vitest";
import type { IsolatedSandboxHandle, SandboxCreateOptions } from "../../src/sandboxes/contract.ts";
import { type KubernetesOptions, kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { requiresRuntimes } from "../helpers/runtimes/runtimes.ts";
import { newSandboxName } from "../sandboxes/openSandbox.ts";

const ENV_FILE = join(import.meta.dirname, "../../.cache/kubernetes/env");

/** What `scripts/kubernetes/cluster up` wrote down. */
if (existsSync(ENV_FILE)) {
  for (const line of readFileSync(ENV_FILE, "utf8").split("\n")) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) process.env[name] = value.replace(/\\(.)/g, "$1");
  }
}

const CLUSTER = process.env["SANDDUNE_KUBERNETES_CLUSTER"];
export const IMAGE = process.env["SANDDUNE_KUBERNETES_IMAGE"] ?? "";
/** A kubeconfig of somebody who may do nothing. */
export const GUEST = process.env["SANDDUNE_KUBERNETES_GUEST"] ?? "";

const whyMissing = (): string | undefined => {
  if (CLUSTER === undefined) return "there is none: scripts/kubernetes/cluster up";
  const { status, stderr, error } = spawnSync("kubectl", ["get", "nodes", "--request-timeout=10s"], {
    encoding: "utf8",
  });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
};

/** Tests that need the cluster: skipped with the reason, or failed where SANDDUNE_REQUIRE_RUNTIMES=1 wants it. */
export const describeWithCluster = (title: string, body: () => void): void => {
  const reason = whyMissing();
  if (reason === undefined) {
    describe(title, body);
    return;
  }
  if (requiresRuntimes) {
    describe(title, () => {
      test("has its cluster", () => {
        throw new Error(reason);
      });
    });
    return;
  }
  console.warn(`Skipped: ${title}. The cluster is not available: ${reason}`);
  describe.skip(title, body);
};

const call = promisify(execFile);

export const kubectl = async (...args: string[]): Promise<string> =>
  (await call("kubectl", args, { maxBuffer: 16 * 1024 * 1024 })).stdout.trim();

/** For instance `cluster("kill-node", "1")`. */
export const cluster = async (...args: string[]): Promise<string> =>
  (await call(CLUSTER ?? "", args)).stdout.trim();

/** A node is whole again after the test. */
export const restoreNode = (number: 1 | 2): void => {
  onTestFinished(async () => void (await cluster("start-node", String(number))), 120_000);
};

export const onNode = (number: 1 | 2): KubernetesOptions => ({
  nodeSelector: { "kubernetes.io/hostname": `node${number}` },
});

/** A sandbox in the cluster, closed after the test. */
export const openPod = async (
  settings: KubernetesOptions = {},
  options: Partial<SandboxCreateOptions> = {},
): Promise<IsolatedSandboxHandle> => {
  const handle = await kubernetes({ imageName: IMAGE, ...settings }).create({
    runId: "test-run",
    sandboxName: newSandboxName(),
    repositoryPath: "/nowhere",
    ...options,
  });
  onTestFinished(() => handle.close(), 60_000);
  return handle;
};

export const podExists = async (name: string): Promise<boolean> =>
  (await kubectl("get", "pod", name, "--ignore-not-found", "--output", "name")) !== "";

export const nodeOf = (name: string): Promise<string> =>
  kubectl("get", "pod", name, "--output", "jsonpath={.spec.nodeName}");

/** What a promise rejects with. */
export const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    (value) => {
      throw new Error(`It has not failed, but given ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
