import { expect, it, onTestFinished } from "vitest";
import { SandboxError } from "../../src/errors.ts";
import { type KubernetesOptions, kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { newSandboxName } from "../sandboxes/openSandbox.ts";
import { describeWithCluster, failureOf, IMAGE, kubectl, nodeOf, openPod, podExists } from "./cluster.ts";

/** Tries to make a sandbox, and tells its name. */
const attempt = (settings: KubernetesOptions, signal?: AbortSignal) => {
  const sandboxName = newSandboxName();
  const created = kubernetes({ imageName: IMAGE, ...settings }).create({
    ...{ runId: "test-run", sandboxName, repositoryPath: "/nowhere" },
    ...(signal && { signal }),
  });
  return { sandboxName, created };
};

describeWithCluster("a pod that cannot start", () => {
  it.each<[string, KubernetesOptions, RegExp]>([
    [
      "because there is no such image",
      { imageName: "sanddune-test-missing:1" },
      /does not start: (ErrImagePull|ImagePullBackOff)/,
    ],
    [
      "because its image may not be pulled",
      { imageName: "sanddune-test-missing:1", imagePullPolicy: "Never" },
      /does not start: ErrImageNeverPull/,
    ],
    [
      "because that is no name of an image",
      { imageName: "Not An Image" },
      /does not start: InvalidImageName/,
    ],
    [
      "because no node is large enough",
      { resources: { requests: { cpu: "4000" } }, startTimeoutMs: 10_000 },
      /did not start within 10000 ms: it waits for a node that it can run on: .*Insufficient cpu/s,
    ],
    ["because an amount is none", { resources: { limits: { memory: "much" } } }, /could not be made/],
    [
      "because there is no such class of runtimes",
      { runtimeClassName: "no-such-class" },
      /could not be made.*no-such-class/s,
    ],
  ])("%s says so, and is gone", async (_, settings, says) => {
    const { sandboxName, created } = attempt(settings);
    const error = await failureOf(created);
    expect(error).toBeInstanceOf(SandboxError);
    expect((error as Error).message).toMatch(says);
    expect(await podExists(sandboxName)).toBe(false);
  });

  it("because it was deleted says so", async () => {
    const { sandboxName, created } = attempt({ resources: { requests: { cpu: "4000" } } });
    created.catch(() => {});
    await waitFor(() => podExists(sandboxName));
    await kubectl("delete", "pod", sandboxName);
    expect(String(await failureOf(created))).toMatch(/was deleted before it ran/);
  });

  it("is gone when its creation is aborted, which rejects with the identical reason", async () => {
    const controller = new AbortController();
    const reason = new Error("never mind");
    const { sandboxName, created } = attempt({ resources: { requests: { cpu: "4000" } } }, controller.signal);
    created.catch(() => {});
    await waitFor(() => podExists(sandboxName));
    controller.abort(reason);
    expect(await failureOf(created)).toBe(reason);
    expect(await podExists(sandboxName)).toBe(false);
  });

  it("was never made when the signal was aborted already", async () => {
    const { sandboxName, created } = attempt({}, AbortSignal.abort("over"));
    expect(await failureOf(created)).toBe("over");
    expect(await podExists(sandboxName)).toBe(false);
  });

  it("leaves another one of the same name alone", async () => {
    const { name } = await openPod();
    const again = openPod({}, { sandboxName: name });
    expect(String(await failureOf(again))).toMatch(/already exists/);
    expect(await podExists(name)).toBe(true);
  });
});

describeWithCluster("pods that start", () => {
  it("come up twenty at once, on both nodes", async () => {
    const provider = kubernetes({ imageName: IMAGE });
    const sandboxes = await Promise.all(
      Array.from({ length: 20 }, () =>
        provider.create({ runId: "test-run", sandboxName: newSandboxName(), repositoryPath: "/nowhere" }),
      ),
    );
    try {
      const nodes = await Promise.all(sandboxes.map(({ name }) => nodeOf(name)));
      expect([...new Set(nodes)].sort()).toEqual(["node1", "node2"]);
      const answers = await Promise.all(sandboxes.map((sandbox) => sandbox.exec("hostname")));
      expect(answers.map(({ stdout }) => stdout.trim())).toEqual(sandboxes.map(({ name }) => name));
    } finally {
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
    }
    const left = await Promise.all(sandboxes.map(({ name }) => podExists(name)));
    expect(left).not.toContain(true);
  });

  it("have no token of the cluster, no addresses of its services, no capabilities and no way to get any", async () => {
    await kubectl("create", "service", "clusterip", "sanddune-test-service", "--tcp=80");
    onTestFinished(async () => void (await kubectl("delete", "service", "sanddune-test-service")));
    const sandbox = await openPod();
    const { stdout } = await sandbox.exec(
      "ls /var/run/secrets 2>&1; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; env",
    );
    expect(stdout.replaceAll("\t", " ")).toMatch(
      /No such file.*CapEff: 0+\nCapBnd: 0+\nNoNewPrivs: 1\nSeccomp: 2\n/s,
    );
    expect(stdout).not.toContain("SANDDUNE_TEST_SERVICE");
  });

  it("reap the processes that commands leave behind", async () => {
    const sandbox = await openPod();
    await sandbox.exec("for i in 1 2 3 4 5; do (sleep 0.1 &) ; done");
    const zombies = async () =>
      (await sandbox.exec("grep -l '^State:.Z' /proc/[0-9]*/status | wc -l")).stdout;
    await waitFor(async () => (await zombies()) === "0\n");
  });
});
