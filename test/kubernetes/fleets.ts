import { expect, onTestFinished } from "vitest";
import { command, type FleetResult, type RunOptions, runAll } from "../../src/index.ts";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { cluster, IMAGE, kubectl, restoreNode } from "./cluster.ts";

/** Commits, says so, and stays until it is let go. */
const AGENT = command(
  'n=$(cat); echo "$n" >"work-$n.txt"; git add .; git commit -qm "Work $n"; echo ready; until [ -e /tmp/go ]; do sleep 0.2; done',
);

/** Pods of the repository that run: their names, and where. */
export const runningPods = async (cwd: string): Promise<ReadonlyMap<string, string>> => {
  const format =
    'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName} {.metadata.annotations.sanddune\\.dev/repository}{"\\n"}{end}';
  const pods = await kubectl("get", "pods", "--field-selector=status.phase=Running", "--output", format);
  const ofRepository = pods.split("\n").flatMap((line): [string, string][] => {
    const [name = "", node = "", repository] = line.split(" ");
    return repository === cwd ? [[name, node]] : [];
  });
  return new Map(ofRepository);
};

/** Of the pods that run, those that were not on the node that died: what cannot be reached there is left alone. */
export const otherPods = async (cwd: string, doomed: ReadonlySet<string>): Promise<string[]> =>
  [...(await runningPods(cwd)).keys()].filter((name) => !doomed.has(name.replace(/^sanddune-/, "")));

/** Lets go whoever comes to work on a node, until the fleet is over. Tells where it has seen which pod. */
const letGo = async (
  cwd: string,
  node: string,
  isOver: () => boolean,
): Promise<ReadonlyMap<string, string>> => {
  const seen = new Map<string, string>();
  const gone = new Set<string>();
  while (!isOver()) {
    for (const [name, where] of await runningPods(cwd)) {
      seen.set(name, where);
      if (where !== node || gone.has(name)) continue;
      // A pod may be over by now, or not have begun.
      await kubectl("exec", name, "--", "touch", "/tmp/go").then(
        () => gone.add(name),
        () => {},
      );
    }
  }
  return seen;
};

export interface DyingNode {
  readonly result: FleetResult;
  /** Ids of the runs that were at work on the node that died. */
  readonly doomed: ReadonlySet<string>;
  /** Where the pod of a run was. */
  nodeOf(runId: string | undefined): string | undefined;
}

/** So many runs at once over both nodes. When all have committed, and none is done, node1 dies. */
export const fleetWithDyingNode = async (
  cwd: string,
  { count, retries }: { readonly count: number; readonly retries: number },
): Promise<DyingNode> => {
  restoreNode(1);
  const sandbox = kubernetes({ imageName: IMAGE });
  let ready = 0;
  const tasks = Array.from(
    { length: count },
    (_, number): RunOptions<typeof sandbox> => ({
      agent: AGENT,
      sandbox,
      branchStrategy: { type: "merge-to-head" },
      name: `task ${number}`,
      prompt: String(number),
      cwd,
      logging: {
        type: "file",
        onAgentStreamEvent: (event) => {
          if (event.type === "text" && event.text.includes("ready")) ready++;
        },
      },
    }),
  );
  let isOver = false;
  const fleet = runAll(tasks, { concurrency: count, retries }).finally(() => {
    isOver = true;
  });
  await waitFor(() => ready === count || isOver, 600_000);
  expect(isOver).toBe(false);
  const atWork = [...(await runningPods(cwd))];
  expect(atWork).toHaveLength(count);
  const doomed = atWork.filter(([, node]) => node === "node1").map(([name]) => name);
  expect(doomed.length).toBeGreaterThan(0);
  expect(doomed.length).toBeLessThan(count);

  onTestFinished(
    async () => void (await kubectl("delete", "pod", "--ignore-not-found", "--wait=false", ...doomed)),
  );
  await cluster("kill-node", "1");
  const [result, seen] = await Promise.all([fleet, letGo(cwd, "node2", () => isOver)]);
  const nodes = new Map([...atWork, ...seen]);
  return {
    result,
    doomed: new Set(doomed.map((name) => name.replace(/^sanddune-/, ""))),
    nodeOf: (runId) => nodes.get(`sanddune-${runId}`),
  };
};
