import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { SandboxLostError } from "../../../src/errors.ts";
import type { PodManifest } from "../../../src/sandboxes/kubernetes/pod.ts";
import { kubernetes } from "../../../src/sandboxes/kubernetes.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

afterEach(() => void vi.unstubAllEnvs());

const RUNNING =
  '"status":{"phase":"Running","containerStatuses":[{"name":"sandbox","state":{"running":{}}}]}';
const EXCLUDED =
  '"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","message":"0/1 nodes are available: 1 node(s) didn\'t match Pod\'s node affinity."}]}';

/**
 * A cluster that is a directory, in which every pod is on the node that the file `node` names, unless it is to be on some
 * only: for that there is no node. `broken`: commands do not reach pods. `hangs`: it does not answer a question about many
 * pods while that file is there.
 */
const FAKE = `#!/bin/sh
cd "\${0%/*}" || exit 1
case "$*" in
*"config view"*) printf '{"contexts":[{"name":"%s"}]}' "$PWD";;
*" create "*) cat >"made/$(ls made | wc -l)";;
*" delete "*) echo "$*" >>deleted;;
*" get pods "*)
  echo $$ >>asking
  while [ -e hangs ]; do sleep 0.1; done
  if grep -q affinity "made/$(ls made | tail -n 1)"; then status=$(cat excluded); else status=$(cat running); fi
  printf '{"items":[{"metadata":{"name":"x"},"spec":{"nodeName":"%s"},%s}]}' "$(cat node)" "$status";;
*" get pod "* | *" get pod/"*) printf '{"spec":{"nodeName":"%s"},%s}' "$(cat node)" "$(cat running)";;
*" get node "* | *" get node/"*) echo '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}';;
*" exec "*) [ -e broken ] || echo "ended with 0";;
esac
`;

/** Each is another cluster: what is known about the nodes of one says nothing about another. */
const fakeCluster = () => {
  const directory = temporaryDirectory();
  const path = (name: string) => join(directory, name);
  mkdirSync(path("made"));
  writeFileSync(path("node"), "node1");
  writeFileSync(path("running"), RUNNING);
  writeFileSync(path("excluded"), EXCLUDED);
  writeFileSync(path("deleted"), "");
  writeFileSync(path("kubectl"), FAKE);
  chmodSync(path("kubectl"), 0o755);
  vi.stubEnv("PATH", `${directory}:/usr/bin:/bin`);
  const linesOf = (name: string) =>
    existsSync(path(name)) ? readFileSync(path(name), "utf8").trim().split("\n") : [];
  return {
    path,
    made: () =>
      readdirSync(path("made")).map(
        (name) => JSON.parse(readFileSync(path(`made/${name}`), "utf8")) as PodManifest,
      ),
    deleted: () => linesOf("deleted").filter((line) => line !== ""),
    asking: () => linesOf("asking").map(Number),
  };
};

const start = (signal?: AbortSignal) =>
  kubernetes().create({
    ...{ runId: "r", sandboxName: "x", repositoryPath: "/nowhere" },
    ...(signal && { signal }),
  });

const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

const avoidedBy = ({ spec }: PodManifest): readonly string[] | undefined =>
  spec.affinity?.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]?.matchFields.flatMap(
    ({ values }) => values,
  );

it("puts no pod on a node where one could not be reached, unless there is no other", async () => {
  const { path, made, deleted } = fakeCluster();
  writeFileSync(path("broken"), "");
  const error = await failureOf(start());
  expect(error).toBeInstanceOf(SandboxLostError);
  expect(String(error)).toMatch(/on node1 exists, but commands in it can no longer be reached/);
  expect(made().map(avoidedBy)).toEqual([undefined]);

  writeFileSync(path("node"), "node2");
  expect(String(await failureOf(start()))).toMatch(/on node2 exists/);
  expect(made().slice(1).map(avoidedBy)).toEqual([["node1"], undefined]);

  // The one of the last loss is avoided for longest.
  rmSync(path("broken"));
  const sandbox = await start();
  expect(made().slice(3).map(avoidedBy)).toEqual([["node2", "node1"], ["node2"], undefined]);
  expect(deleted()).toHaveLength(5);
  await sandbox.close();
  expect(deleted()).toHaveLength(6);
});

it("does not wait for a cluster that hangs when it is aborted", async () => {
  const { path, deleted, asking } = fakeCluster();
  writeFileSync(path("hangs"), "");
  const controller = new AbortController();
  const reason = new Error("never mind");
  const attempt = failureOf(start(controller.signal));
  await waitFor(() => asking().length > 0);
  controller.abort(reason);
  expect(await attempt).toBe(reason);
  const [client = 0] = asking();
  expect(processIsAlive(client)).toBe(true);
  expect(deleted()).toHaveLength(1);
  rmSync(path("hangs"));
  await waitFor(() => !processIsAlive(client));
});
