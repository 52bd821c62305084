import { describe, expect, it } from "vitest";
import { podManifest } from "../../../src/sandboxes/kubernetes/pod.ts";
import type { KubernetesOptions } from "../../../src/sandboxes/kubernetes.ts";

const OPTIONS = { runId: "run-1", sandboxName: "sanddune-run-1", repositoryPath: "/home/dev/My App" };

const podOf = (settings: KubernetesOptions = {}, usesSudo = false) =>
  podManifest({ settings, options: { ...OPTIONS, usesSudo }, processId: "p1" });

const containerOf = (settings?: KubernetesOptions, usesSudo?: boolean) => {
  const [container, ...others] = podOf(settings, usesSudo).spec.containers;
  expect(others).toEqual([]);
  if (container === undefined) throw new Error("there is no container");
  return container;
};

describe("the pod of a sandbox", () => {
  it("says whose it is, and until when it is wanted", () => {
    const { metadata } = podOf({ lifetimeMs: 60_000 });
    expect(metadata.name).toBe("sanddune-run-1");
    expect(metadata.labels).toEqual({
      "app.kubernetes.io/managed-by": "sanddune",
      "sanddune.dev/run": "run-1",
      "sanddune.dev/process": "p1",
    });
    expect(metadata.annotations["sanddune.dev/owner"]).toMatch(new RegExp(`:${process.pid}$`));
    expect(metadata.annotations["sanddune.dev/repository"]).toBe("/home/dev/My App");
    expect(Date.parse(metadata.annotations["sanddune.dev/expires"])).toBeGreaterThan(Date.now());
  });

  it("ends for good: at once on request, and at the latest with its lifetime", () => {
    expect(podOf({ lifetimeMs: 90_500 }).spec).toMatchObject({
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 0,
      activeDeadlineSeconds: 91,
    });
    expect(podOf().spec.activeDeadlineSeconds).toBe(24 * 60 * 60);
  });

  it("has neither a token of the cluster nor names of its services", () => {
    expect(podOf().spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  });

  it("has no capabilities, except those of a hook that uses sudo", () => {
    expect(containerOf().securityContext).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"], add: [] },
    });
    expect(containerOf({ user: 0 }, true).securityContext.capabilities).toEqual({
      drop: ["ALL"],
      add: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"],
    });
  });

  it("is the image's user's, unless another one is named", () => {
    const seccompProfile = { type: "RuntimeDefault" };
    expect(podOf().spec.securityContext).toEqual({ seccompProfile });
    expect(podOf({ user: 1000 }).spec.securityContext).toEqual({
      seccompProfile,
      runAsUser: 1000,
      runAsNonRoot: true,
    });
    expect(podOf({ user: 0 }).spec.securityContext).toMatchObject({ runAsUser: 0, runAsNonRoot: false });
  });

  it("has the image of the repository, unless another one is named, and pulls it only if it is not there", () => {
    expect(containerOf()).toMatchObject({ image: "sanddune:my-app", imagePullPolicy: "IfNotPresent" });
    const imageName = "registry.example.com/app:1";
    expect(containerOf({ imageName, imagePullPolicy: "Always" })).toMatchObject({
      image: imageName,
      imagePullPolicy: "Always",
    });
  });

  it("passes on where it may run, and with how much", () => {
    const scheduling = {
      nodeSelector: { pool: "agents" },
      tolerations: [{ key: "agents", operator: "Exists", effect: "NoSchedule" }],
      runtimeClassName: "gvisor",
    } as const;
    const resources = { requests: { cpu: "500m" }, limits: { memory: "4Gi" } };
    expect(podOf({ ...scheduling, resources }).spec).toMatchObject(scheduling);
    expect(containerOf({ resources }).resources).toEqual(resources);
    const plain = podOf().spec;
    for (const name of Object.keys(scheduling)) expect(plain).not.toHaveProperty(name);
    expect(containerOf()).not.toHaveProperty("resources");
  });

  it("avoids only nodes on which pods were lost", () => {
    const plan = { settings: {}, options: OPTIONS, processId: "p1" };
    expect(podManifest({ ...plan, avoidedNodes: ["node1", "node3"] }).spec).toMatchObject({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchFields: [
                  { key: "metadata.name", operator: "NotIn", values: ["node1"] },
                  { key: "metadata.name", operator: "NotIn", values: ["node3"] },
                ],
              },
            ],
          },
        },
      },
    });
    expect(podManifest({ ...plan, avoidedNodes: [] }).spec).not.toHaveProperty("affinity");
    expect(podOf().spec).not.toHaveProperty("affinity");
  });

  it("holds no env var of the run, because other users may read pods", () => {
    const manifest = podOf({ env: { API_KEY: "sk-secret", PLAIN: { public: "shown" } } });
    expect(containerOf().env).toEqual([{ name: "SANDDUNE_SANDBOX", value: "sanddune-run-1" }]);
    expect(JSON.stringify(manifest)).not.toMatch(/API_KEY|sk-secret|PLAIN|shown/);
  });

  it("has a lease of whole ticks, never shorter than it was asked for, and by default no longer than its lifetime", () => {
    const ticks = (settings: KubernetesOptions) => Number(containerOf(settings).command.at(-1));
    expect([ticks({ leaseMs: 10_000 }), ticks({ leaseMs: 11_000 }), ticks({})]).toEqual([2, 3, 120]);
    expect(ticks({ lifetimeMs: 60_000 })).toBe(12);
  });
});
