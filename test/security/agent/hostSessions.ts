// A process at a terminal that makes the sessions which the file in its arguments describes, one after the other, and
// writes what came of each into another. Made into a program by the tests that start it.
import { readFileSync, writeFileSync } from "node:fs";
import {
  type AgentProvider,
  createWorktree,
  type EnvVars,
  type Hooks,
  interactive,
  run,
  type SandboxProvider,
  type WorktreeBranchStrategy,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { noSandbox } from "../../../src/sandboxes/no-sandbox.ts";
import { podman } from "../../../src/sandboxes/podman.ts";

export type Place = "none" | "bubblewrap" | "docker" | "podman";

/** What one agent is to do, in `sh`. */
export interface Act {
  readonly kind: "interactive" | "run" | "exec";
  readonly script: string;
  readonly place?: Place;
  readonly env?: EnvVars;
  readonly hooks?: Hooks;
}

export interface Scene {
  readonly cwd: string;
  readonly image: string;
  readonly resultFile: string;
  /** Without it there is no worktree: every act makes a session of its own. */
  readonly branchStrategy?: WorktreeBranchStrategy;
  /** The sandbox that `exec` is for, over the same worktree from beginning to end. */
  readonly warm?: Exclude<Place, "none">;
  readonly acts: readonly Act[];
}

/** An agent that is told whether it may do everything: its script sees `skip` in its environment. */
const agentOf = (script: string): AgentProvider => ({
  name: "mine",
  buildCommand: () => ({ command: ["sh", "-c", script], stdin: "" }),
  createParser: () => (line) => [{ type: "text", text: line }],
  interactiveCommand: ({ dangerouslySkipPermissions }) => ({
    command: ["sh", "-c", script],
    env: { skip: String(dangerouslySkipPermissions) },
  }),
});

const outcome = async (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: Error) => ({ ...error, error: error.name, message: error.message }));

const play = async ({ cwd, image, branchStrategy, warm: warmPlace, acts }: Scene): Promise<unknown[]> => {
  const sandboxes: Record<Exclude<Place, "none">, () => SandboxProvider> = {
    bubblewrap: () => bubblewrap(),
    docker: () => docker({ imageName: image }),
    podman: () => podman({ imageName: image }),
  };
  const sandboxOf = (place: Exclude<Place, "none"> = "bubblewrap") => sandboxes[place]();
  const results: unknown[] = [];
  const worktree = branchStrategy && (await createWorktree({ cwd, branchStrategy }));
  const warm = warmPlace && (await worktree?.createSandbox({ sandbox: sandboxOf(warmPlace) }));
  for (const { kind, script, place = "none", ...options } of acts) {
    const agent = agentOf(script);
    const sandbox = place === "none" ? noSandbox() : sandboxOf(place);
    const unattended = { agent, prompt: "x", sandbox: sandboxOf(place === "none" ? undefined : place) };
    const calls = {
      interactive: () =>
        worktree?.interactive({ agent, sandbox, ...options }) ??
        interactive({ agent, sandbox, cwd, ...options }),
      run: () => worktree?.run({ ...unattended, ...options }) ?? run({ ...unattended, cwd, ...options }),
      exec: async () => warm?.exec(script),
    };
    results.push(await outcome(calls[kind]()));
  }
  await warm?.close();
  if (worktree) results.push(await outcome(worktree.close()));
  return results;
};

const scene: Scene = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
writeFileSync(scene.resultFile, JSON.stringify(await play(scene)));
