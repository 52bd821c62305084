/** A program that uses the entryPoints at the terminal it is started from. Argv: an order as JSON; what came of it goes to a file. */
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import {
  command,
  createSandbox,
  createWorktree,
  interactive,
  run,
  type Sandbox,
  SandduneError,
  type Worktree,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { InteractiveSandboxProvider, SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { noSandbox } from "../../../src/sandboxes/no-sandbox.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";

export type SandboxName = "bubblewrap" | "docker" | "podman" | "no-sandbox" | "test-isolated";

/** One call of the public interface, as far as JSON can tell of it. */
export interface Step {
  readonly call: "interactive" | "run" | "exec" | "close" | "createSandbox" | "createWorktree" | "together";
  /** What the call is made on; the package itself if it is left out. */
  readonly on?: "worktree" | "sandbox";
  readonly sandbox?: SandboxName;
  /** The agent's command line: of its terminal interface for `interactive`, of the agent for `run`. */
  readonly agent?: string;
  /** The agent has no terminal interface. */
  readonly isPlain?: boolean;
  readonly command?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Of `together`: they are begun at the same time. */
  readonly steps?: readonly Step[];
  /** The call is made when this file exists. */
  readonly after?: string;
  /** A file that is made when the call has ended. */
  readonly mark?: string;
}

export interface Order {
  readonly steps: readonly Step[];
  readonly report: string;
  /** What SIGUSR2 makes this program do. */
  readonly onSignal?: "abort" | "throw" | "exit";
}

/** How a call has ended, as far as JSON can tell of it. */
export interface Outcome {
  readonly value?: Record<string, unknown>;
  readonly error?: {
    readonly name: string;
    readonly message: string;
    readonly commits: readonly { readonly sha: string }[];
    readonly branch: string | undefined;
    /** It is the very reason that the program has aborted with. */
    readonly isReason: boolean;
  };
  readonly together?: readonly Outcome[];
}

export interface Report {
  readonly outcomes: readonly Outcome[];
  /** How often the program's own listener for SIGINT was called. */
  readonly interrupts: number;
  /** Whether that listener is still there. */
  readonly listens: boolean;
}

const image = process.env["SANDDUNE_TEST_IMAGE"] ?? "sanddune-test-base";
/** Where containers of docker are to be; this machine if it is left out. */
const host = process.env["SANDDUNE_TEST_HOST"];
const PROVIDERS: Record<SandboxName, () => InteractiveSandboxProvider> = {
  bubblewrap: () => bubblewrap(),
  docker: () => (host === undefined ? docker({ imageName: image }) : docker({ imageName: image, host })),
  podman: () => podman({ imageName: image }),
  "no-sandbox": () => noSandbox(),
  "test-isolated": () => testIsolated(),
};

const order = JSON.parse(process.argv[2] ?? "") as Order;
writeFileSync(`${order.report}.pid`, String(process.pid));
const reason = { why: "the program changed its mind" };
const controller = new AbortController();
let interrupts = 0;
const onInterrupt = () => {
  interrupts++;
};
process.on("SIGINT", onInterrupt);
process.on("SIGUSR2", () => {
  if (order.onSignal === "exit") process.exit(7);
  if (order.onSignal === "throw") throw new Error("the program is broken");
  controller.abort(reason);
});

let worktree: Worktree | undefined;
let sandbox: Sandbox | undefined;

const perform = async (step: Step): Promise<unknown> => {
  const { call, on, agent = "true", isPlain = false } = step;
  const { signal } = controller;
  const provided = step.sandbox && { sandbox: PROVIDERS[step.sandbox]() as SandboxProvider };
  const options = { ...provided, ...step.options } as never;
  const target = on === "worktree" ? worktree : sandbox;
  switch (call) {
    case "interactive": {
      const interface_ = { agent: command("true", isPlain ? {} : { interactive: agent }), signal };
      const show = on === undefined ? interactive : (target as Worktree).interactive;
      return show({ ...(options as object), ...interface_ } as never);
    }
    case "run": {
      const start = on === undefined ? run : (target as Worktree).run;
      return start({ prompt: "Work", ...(options as object), agent: command(agent) } as never);
    }
    case "exec":
      return sandbox?.exec(step.command ?? "");
    case "close":
      return target?.close();
    case "createWorktree":
      worktree = await createWorktree(options);
      return { branch: worktree.branch, worktreePath: worktree.worktreePath };
    case "createSandbox":
      sandbox = await (on === "worktree" ? (worktree as Worktree).createSandbox : createSandbox)(options);
      return { branch: sandbox.branch, worktreePath: sandbox.worktreePath };
    case "together":
      return undefined;
  }
};

const errorOf = (error: unknown): Outcome["error"] => ({
  name: error instanceof Error ? error.constructor.name : typeof error,
  message: error instanceof Error ? error.message : JSON.stringify(error),
  commits: error instanceof SandduneError ? (error.commits ?? []) : [],
  branch: error instanceof SandduneError ? error.branch : undefined,
  isReason: error === reason,
});

const outcomeOf = async (step: Step): Promise<Outcome> => {
  if (step.call === "together") return { together: await Promise.all((step.steps ?? []).map(outcomeOf)) };
  while (step.after !== undefined && !existsSync(step.after)) await delay(20);
  const outcome = await perform(step).then(
    (value) => ({ value: value as Record<string, unknown> }),
    (error: unknown) => ({ error: errorOf(error) }),
  );
  if (step.mark !== undefined) writeFileSync(step.mark, "");
  return outcome as Outcome;
};

const outcomes: Outcome[] = [];
for (const step of order.steps) outcomes.push(await outcomeOf(step));
const report: Report = { outcomes, interrupts, listens: process.listeners("SIGINT").includes(onInterrupt) };
writeFileSync(order.report, JSON.stringify(report));
