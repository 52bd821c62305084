/** Makes runs, all at once, in a process of its own that the test kills. Argv: an order as JSON. */
import {
  type Hooks,
  type RunOptions,
  RunStoppedError,
  run,
  type ScriptedStep,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";

export type SandboxName = "bubblewrap" | "docker" | "podman" | "isolated";

export interface RunOrder {
  readonly name: string;
  readonly sandbox: SandboxName;
  readonly branchStrategy: NonNullable<RunOptions["branchStrategy"]>;
  readonly steps: readonly ScriptedStep[];
  readonly maxIterations?: number;
  readonly hooks?: Hooks;
}

export interface RunsOrder {
  readonly cwd: string;
  readonly image: string;
  /** Host and sandboxes see it at the same path. */
  readonly marks: string;
  readonly runs: readonly RunOrder[];
}

const { cwd, image, marks, runs } = JSON.parse(process.argv[2] ?? "") as RunsOrder;
const mounts = [{ hostPath: marks, sandboxPath: marks }];
const SANDBOXES: Readonly<Record<SandboxName, () => SandboxProvider>> = {
  bubblewrap: () => bubblewrap({ mounts }),
  docker: () => docker({ imageName: image, mounts }),
  podman: () => podman({ imageName: image, mounts }),
  isolated: () => testIsolated(),
};
await Promise.all(
  runs.map(({ sandbox, steps, ...options }) =>
    run({
      ...options,
      agent: scripted(steps),
      sandbox: SANDBOXES[sandbox](),
      prompt: "Work",
      cwd,
      logging: { type: "file", quiet: true },
    } as RunOptions).catch((error: unknown) => {
      // A test may have asked for that.
      if (!(error instanceof RunStoppedError)) throw error;
    }),
  ),
);
