import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { InvalidOptionsError, SandboxUnavailableError } from "../../../src/errors.ts";
import { preflight } from "../../../src/sandboxes/handle/preflight.ts";
import { placeArguments, unavailability } from "../../../src/sandboxes/kubernetes/client.ts";
import { diagnosePod } from "../../../src/sandboxes/kubernetes/diagnosis.ts";
import { readPlace, writePlace } from "../../../src/sandboxes/kubernetes/place.ts";
import { type KubernetesOptions, kubernetes } from "../../../src/sandboxes/kubernetes.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

afterEach(() => void vi.unstubAllEnvs());

const check = (settings: KubernetesOptions = {}, usesSudo = false) =>
  preflight(kubernetes(settings), { repositoryPath: "/nowhere", usesSudo });

/** A `kubectl` that no cluster could be. It writes down how it was called. */
const ownKubectl = (script: string): { calls(): string[] } => {
  const directory = temporaryDirectory();
  const log = join(directory, "log");
  writeFileSync(log, "");
  writeFileSync(join(directory, "kubectl"), `#!/bin/sh\nprintf '%s\\n' "$*" >>${log}\n${script}\n`);
  chmodSync(join(directory, "kubectl"), 0o755);
  vi.stubEnv("PATH", `${directory}:/usr/bin:/bin`);
  return { calls: () => readFileSync(log, "utf8").trim().split("\n") };
};

const VIEW = `'{"contexts":[{"name":"prod","context":{"namespace":"agents"}}]}'`;
const versions = (client: string, server: string) =>
  `'{"clientVersion":{"major":"1","minor":"${client}","gitVersion":"v1.${client}.0"},"serverVersion":{"major":"1","minor":"${server}","gitVersion":"v1.${server}.0"}}'`;

describe("without what it needs, kubernetes says", () => {
  it("that there is no kubectl, and how to get it", async () => {
    vi.stubEnv("PATH", temporaryDirectory());
    const error = await check().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SandboxUnavailableError);
    expect(String(error)).toMatch(/kubectl could not be started \(ENOENT\).*Install kubectl/s);
  });

  it.each([
    ["12", "30", /program kubectl v1\.12\.0 is too old.*1\.20/s],
    ["32+", "19", /cluster's Kubernetes v1\.19\.0 is too old.*1\.20/s],
  ])("that a version is too old: client %s, server %s", async (client, server, says) => {
    ownKubectl(`case "$*" in *config*) echo ${VIEW};; *version*) echo ${versions(client, server)};; esac`);
    await expect(check()).rejects.toThrow(says);
  });

  it("that it has no root user, before kubectl is called", async () => {
    const { calls } = ownKubectl("exit 1");
    await expect(check({}, true)).rejects.toThrow(/it has no root user/);
    expect(calls()).toEqual([""]);
  });
});

it("asks the cluster once when many runs begin at the same time", async () => {
  const { calls } = ownKubectl(
    `case "$*" in
      *config*) echo ${VIEW};;
      *version*) echo ${versions("30", "30")};;
      *create*) cat >/dev/null; echo "true create pods/";;
    esac`,
  );
  const provider = kubernetes();
  await Promise.all(Array.from({ length: 50 }, () => preflight(provider, { repositoryPath: "/nowhere" })));
  const [first, ...others] = calls().map((call) => call.replace(/ --output.*| --filename.*/, ""));
  expect(first).toBe("config view --minify");
  expect(others.sort()).toEqual(
    ["create", "get namespace/agents", "version"].map((call) => `--context=prod --namespace=agents ${call}`),
  );
});

it.each<[KubernetesOptions, RegExp]>([
  [{ leaseMs: 0 }, /leaseMs.*from 10 seconds/],
  [{ leaseMs: 60_001, lifetimeMs: 60_000 }, /leaseMs.*not be longer than lifetimeMs/],
  [{ leaseMs: 25 * 60 * 60 * 1000 }, /leaseMs.*not be longer than lifetimeMs/],
  [{ lifetimeMs: Number.NaN }, /lifetimeMs/],
  [{ lifetimeMs: 2 ** 31 * 1000 }, /lifetimeMs.*to 35791394 minutes/],
  [{ lifetimeMs: "60000" as unknown as number }, /lifetimeMs/],
  [{ startTimeoutMs: -1 }, /startTimeoutMs/],
  [{ user: 1.5 }, /user.*number of a user/],
  [{ namespace: "--kubeconfig=evil" }, /namespace.*small letters/],
  [{ namespace: "a/b" }, /namespace.*small letters/],
  [{ namespace: "" }, /namespace.*small letters/],
  [{ nameSpace: "x" } as KubernetesOptions, /nameSpace.*no such option.*Did you mean namespace/],
])("refuses %j at once", (options, says) => {
  expect(() => kubernetes(options)).toThrow(InvalidOptionsError);
  expect(() => kubernetes(options)).toThrow(says);
});

it("names the cluster in words that cannot be taken for other flags", () => {
  expect(placeArguments({ kubeconfig: "--evil", context: "-c", namespace: "n" })).toEqual([
    "--kubeconfig=--evil",
    "--context=-c",
    "--namespace=n",
  ]);
  expect(placeArguments({})).toEqual([]);
});

it("takes no node of a hostile cluster's for a flag", async () => {
  const pod = '{"spec":{"nodeName":"--kubeconfig=evil"},"status":{"phase":"Running"}}';
  const { calls } = ownKubectl(`case "$*" in *pod*) echo '${pod}';; *) exit 1;; esac`);
  await diagnosePod({ namespace: "agents" }, "sanddune-1");
  const words = calls().flatMap((call) => call.split(" "));
  expect(words).toContain("node/--kubeconfig=evil");
  expect(words.filter((word) => word.startsWith("--kubeconfig"))).toEqual([]);
});

describe("the place in a journal", () => {
  it("tells context and namespace, and no kubeconfig, which could name a program to run", () => {
    const text = writePlace({
      kubeconfig: "/home/dev/config",
      context: "arn:aws:eks/x",
      namespace: "agents",
    });
    expect(text).not.toContain("/home/dev/config");
    expect(readPlace(text)).toEqual({ context: "arn:aws:eks/x", namespace: "agents" });
    expect(readPlace('{"kubeconfig":"/evil","context":"c","namespace":3}')).toEqual({ context: "c" });
  });

  it("is ignored if it is malformed", () => {
    expect(readPlace("tcp://elsewhere")).toBeUndefined();
    expect(readPlace("null")).toBeUndefined();
    expect(readPlace('{"namespace":"--kubeconfig=evil"}')).toBeUndefined();
  });
});

it.each([
  ["error: You must be logged in to the server (Unauthorized)", /refuses your credentials/],
  [
    "Unable to connect to the server: getting credentials: exec: executable aws not found",
    /refuses your credentials/,
  ],
  ["Unable to connect to the server: dial tcp: lookup k8s.example.com: no such host", /does not answer/],
  ["Unable to connect to the server: net/http: TLS handshake timeout", /does not answer/],
  ['Error from server (NotFound): namespaces "agents" not found', /no namespace agents.*create namespace/s],
  ["error: cannot locate context prod", /no context prod/],
  ['error: context "prod" does not exist', /no context prod.*get-contexts/s],
])("explains what kubectl says: %s", (stderr, says) => {
  expect(unavailability({ context: "prod" }, stderr)?.message).toMatch(says);
});

it("leaves to others what is about a single pod", () => {
  expect(unavailability({}, 'Error from server (NotFound): pods "x" not found')).toBeUndefined();
});
