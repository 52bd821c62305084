import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { SandboxUnavailableError } from "../../src/errors.ts";
import { run, scripted } from "../../src/index.ts";
import { type KubernetesOptions, kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { leftovers } from "../helpers/processes/leftovers.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWithCluster, failureOf, GUEST, IMAGE, kubectl } from "./cluster.ts";

afterEach(() => void vi.unstubAllEnvs());

/** What a run says that finds no sandbox, and that it has left nothing behind. */
const complaintOf = async (settings: KubernetesOptions): Promise<string> => {
  const cwd = temporaryRepository();
  const error = await failureOf(
    run({
      agent: scripted([]),
      sandbox: kubernetes({ imageName: IMAGE, ...settings }),
      prompt: "Nothing",
      cwd,
    }),
  );
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  expect(leftovers(cwd)).toEqual([]);
  return (error as Error).message;
};

const kubeconfig = (server: string): string => {
  const path = join(temporaryDirectory(), "config");
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "u", user: { token: "wrong" } }],
      contexts: [{ name: "there", context: { cluster: "c", user: "u" } }],
      "current-context": "there",
    }),
  );
  return path;
};

describeWithCluster("before anything is made, kubernetes says", () => {
  it("that there is no such namespace", async () => {
    expect(await complaintOf({ namespace: "nowhere" })).toMatch(
      /no namespace nowhere.*kubectl --context=sanddune create namespace nowhere/s,
    );
  });

  it("that there is no such context", async () => {
    expect(await complaintOf({ context: "elsewhere" })).toMatch(/no context elsewhere.*get-contexts/s);
  });

  it("that the cluster does not answer", async () => {
    expect(await complaintOf({ kubeconfig: kubeconfig("http://127.0.0.1:1") })).toMatch(
      /the cluster does not answer.*context/s,
    );
  });

  it("that there is no cluster at all", async () => {
    vi.stubEnv("KUBECONFIG", join(temporaryDirectory(), "missing"));
    expect(await complaintOf({})).toMatch(/the cluster does not answer/);
  });

  it("that a file is no kubeconfig", async () => {
    const path = join(temporaryDirectory(), "config");
    writeFileSync(path, "not: [yaml");
    const error = await failureOf(
      Promise.resolve(kubernetes({ kubeconfig: path }).preflight?.({ repositoryPath: "/" })),
    );
    expect(String(error)).toMatch(/its kubeconfig cannot be read/);
  });

  it("that the credentials are not accepted", async () => {
    const server = await kubectl(
      "config",
      "view",
      "--minify",
      "--output",
      "jsonpath={.clusters[0].cluster.server}",
    );
    const path = kubeconfig(server);
    await kubectl("config", "--kubeconfig", path, "set-cluster", "c", "--insecure-skip-tls-verify=true");
    expect(await complaintOf({ kubeconfig: path })).toMatch(/the cluster refuses your credentials/);
  });

  it("what one may not do, and how to see it", async () => {
    expect(await complaintOf({ kubeconfig: GUEST })).toMatch(
      /may not create pods, get pods, list pods, delete pods, create pods\/exec in the namespace default.*auth can-i create pods/s,
    );
  });
});

describeWithCluster("the place of a sandbox", () => {
  it("is what was current when the provider was first used, whatever becomes current later", async () => {
    const path = join(temporaryDirectory(), "config");
    writeFileSync(path, await kubectl("config", "view", "--raw", "--flatten"));
    vi.stubEnv("KUBECONFIG", path);
    const provider = kubernetes({ imageName: IMAGE });
    await provider.preflight?.({ repositoryPath: "/" });
    await kubectl("config", "unset", "current-context");
    const places: string[] = [];
    const sandbox = await provider.create({
      ...{ runId: "test-run", sandboxName: `sanddune-test-${process.pid}-place`, repositoryPath: "/" },
      onPlaced: (place) => places.push(place),
    });
    expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
    await sandbox.close();
    expect(places).toEqual([JSON.stringify({ context: "sanddune", namespace: "default" })]);
  });
});
