import { describe, expect, it } from "vitest";
import { type Pod, startOf, whyNotReady, whyOver } from "../../../src/sandboxes/kubernetes/podState.ts";

type Status = NonNullable<Pod["status"]>;
type State = NonNullable<NonNullable<Status["containerStatuses"]>[number]["state"]>;

const podWith = (status: Status, nodeName = "node1"): Pod => ({ spec: { nodeName }, status });
const podIn = (state: State, phase = "Pending"): Pod =>
  podWith({ phase, containerStatuses: [{ name: "sandbox", state }] });

describe("a pod that starts", () => {
  it("runs once its container does", () => {
    expect(startOf(podIn({ running: {} }, "Running"))).toEqual({ is: "running" });
  });

  it.each([
    ["0/2 nodes are available: 2 Insufficient cpu.", false],
    [
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector.",
      false,
    ],
    ["0/12 nodes are available: 2 node(s) didn't match Pod's node affinity, 10 Insufficient cpu.", false],
    ["0/1 nodes are available: 1 node(s) didn't match Pod's node affinity.", true],
    [
      "0/3 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 2 node(s) didn't match Pod's node affinity.",
      true,
    ],
    [
      "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
      true,
    ],
    [
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
      true,
    ],
  ])("has no node, and says why none will do: %s", (message, isExcluded) => {
    const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
    expect(startOf({ status: { phase: "Pending", conditions } })).toEqual({
      is: "unscheduled",
      for: `a node that it can run on: ${message}`,
      isExcluded,
    });
  });

  it("waits for a node until one was looked for", () => {
    expect(startOf({ status: { phase: "Pending" } })).toEqual({ is: "waiting", for: "a node" });
  });

  it("waits for its container while that is made", () => {
    expect(startOf(podIn({ waiting: { reason: "ContainerCreating" } }))).toEqual({
      is: "waiting",
      for: "its container, on node1",
      node: "node1",
    });
  });

  it.each(["ErrImagePull", "ImagePullBackOff"])("may get over %s", (reason) => {
    expect(startOf(podIn({ waiting: { reason, message: "not found" } }))).toEqual({
      is: "failing",
      because: `${reason}: not found`,
      mayPass: true,
    });
  });

  it.each(["InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "RunContainerError"])(
    "does not get over %s",
    (reason) => {
      expect(startOf(podIn({ waiting: { reason } }))).toEqual({
        is: "failing",
        because: reason,
        mayPass: false,
      });
    },
  );

  it("does not get over a container that has ended", () => {
    const terminated = { exitCode: 128, reason: "StartError", message: 'exec: "sh": not found' };
    expect(startOf(podIn({ terminated }, "Failed"))).toEqual({
      is: "failing",
      because: 'its container ended with exit code 128: exec: "sh": not found',
      mayPass: false,
    });
  });
});

describe("a pod that is over", () => {
  it.each<[string, Pod, string]>([
    [
      "because it was evicted",
      podWith({ phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." }),
      "its pod was evicted on node1: The node was low on resource: memory.",
    ],
    [
      "because of its lifetime",
      podWith({ phase: "Failed", reason: "DeadlineExceeded" }),
      "its lifetime is over",
    ],
    [
      "because of its memory",
      podIn({ terminated: { exitCode: 137, reason: "OOMKilled" } }, "Failed"),
      "its container ran out of memory",
    ],
    [
      "because of its lease",
      podIn({ terminated: { exitCode: 86, reason: "Error" } }, "Failed"),
      "its lease expired, because nothing renewed it",
    ],
    [
      "because its process was killed",
      podIn({ terminated: { exitCode: 137, reason: "Error" } }, "Failed"),
      "its container ended with exit code 137",
    ],
    ["because it is being deleted", { metadata: { deletionTimestamp: "now" } }, "its pod was deleted"],
    ["because its node was lost", podWith({ phase: "Unknown" }), "its node node1 was lost"],
    [
      "for another reason",
      podWith({ phase: "Failed", reason: "UnexpectedAdmissionError" }),
      "its pod has ended on node1: UnexpectedAdmissionError",
    ],
  ])("%s says so", (_, pod, problem) => {
    expect(whyOver(pod)).toBe(problem);
  });

  it("is not one that runs or is about to", () => {
    expect(whyOver(podIn({ running: {} }, "Running"))).toBeUndefined();
    expect(whyOver(podIn({ waiting: { reason: "ContainerCreating" } }))).toBeUndefined();
    expect(whyOver({})).toBeUndefined();
  });
});

it("a node that is not ready says why", () => {
  const node = (status: string) => ({
    status: { conditions: [{ type: "Ready", status, message: "Kubelet stopped posting node status." }] },
  });
  expect(whyNotReady("node1", node("Unknown"))).toBe(
    "its node node1 is not ready: Kubelet stopped posting node status.",
  );
  expect(whyNotReady("node1", node("True"))).toBeUndefined();
  expect(whyNotReady("node1", {})).toBeUndefined();
});
