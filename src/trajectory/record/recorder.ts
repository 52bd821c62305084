import { createHash } from "node:crypto";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import type { AgentStreamEvent } from "../../agents/contract.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { shortenTo } from "../../display/columns.ts";
import type { TestResults } from "../../environment/contract.ts";
import type { SandboxRepository } from "../../git/transfer/sandboxRepository.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import { redactData } from "../../redaction/redactData.ts";
import { oneLine } from "../../tools/shorten.ts";
import { type Action, ActionReader } from "./actions.ts";
import { agentVersion } from "./agentVersion.ts";
import { Checkpoints, type NewCheckpoint } from "./checkpoints.ts";
import { cut, recordedEvent } from "./events.ts";
import { TrajectoryFile, trajectoryPath } from "./file.ts";
import { type ArtifactsOwner, bringArtifacts } from "./takeArtifacts.ts";

/** The parts of a run that the recorder reads, and the results that it adds. */
export interface RecordedSession extends ArtifactsOwner {
  readonly plan: { readonly runId: string };
  readonly progress: ArtifactsOwner["progress"] & {
    trajectoryPath: string | undefined;
    readonly solved: boolean | undefined;
    warn(sentence: string): void;
  };
}

/** The sandbox whose files are recorded. */
export interface RecordedSandbox {
  readonly repository: SandboxRepository;
  readonly checkout: { readonly tip: string };
}

/** What is recorded about the agent. */
export interface RecordedAgent {
  readonly options: Pick<AgentSettings, "agent" | "prices" | "trajectory">;
  readonly prompt: ResolvedPrompt;
}

const MAX_PROBLEM_WIDTH = 300;
/** Limits the disk space: no agent has more actions. */
const MAX_ACTIONS = 50_000;
const OUTSIDE = "changes outside of any tool call";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The hash of the prompt before its shell expressions are expanded. */
const promptHash = ({ prompt: { parts } }: RecordedAgent): string =>
  sha256(parts.map((part) => (typeof part === "string" ? part : part.source)).join(""));

/** Records the trajectory of a run: the agent's actions, and the files after each of them. */
export class Trajectory {
  readonly checkpoints: Checkpoints;
  readonly #file: TrajectoryFile;
  readonly #actions = new ActionReader();
  #iteration = 0;
  #lastAction = 0;
  #isSettled = true;
  #hasArtifacts = false;
  /** Aborted when recording ends. */
  readonly #over = new AbortController();
  #version: Promise<void> = Promise.resolve();

  constructor(
    private readonly session: RecordedSession,
    private readonly sandbox: RecordedSandbox,
    private readonly plan: RecordedAgent,
    base: string,
  ) {
    const { agent, prices } = plan.options;
    const { runDirectory } = session.journal;
    this.#file = new TrajectoryFile(trajectoryPath(runDirectory));
    session.progress.trajectoryPath = this.#file.path;
    if (this.#artifactGlobs.length > 0) session.progress.artifacts = [];
    this.checkpoints = new Checkpoints({
      repository: sandbox.repository,
      base,
      onTaken: (checkpoint) => this.#noteCheckpoint(checkpoint),
      onUnchanged: (number, from) => this.#file.write({ type: "unchanged", number, from }),
      onProblem: (sentence) => this.#warn(sentence),
    });
    this.#file.write({
      type: "begun",
      version: 1,
      runId: session.plan.runId,
      agent: agent.name,
      ...(agent.model !== undefined && { model: agent.model }),
      ...(prices && { prices }),
      promptSha256: promptHash(plan),
      base,
    });
  }

  /** Globs of files that are copied out of the sandbox at the end. */
  get #artifactGlobs(): readonly string[] {
    const { trajectory } = this.plan.options;
    return (typeof trajectory === "object" && trajectory.artifacts) || [];
  }

  /** Warnings may contain text from the sandbox. Redacted before cutting, so that no half of a secret stays. */
  #warn(sentence: string): void {
    const { progress, redactor } = this.session;
    progress.warn(shortenTo(oneLine(redactor.text(sentence)), MAX_PROBLEM_WIDTH));
  }

  /** Records the state before the agent starts. The agent does not wait for its version to be known. */
  readonly begin: Effect.Effect<void> = Effect.ignore(
    interruptible(
      (signal) => {
        this.#version = this.#noteVersion();
        return this.checkpoints.begin(signal);
      },
      (reason) => reason,
    ),
  );

  async #noteVersion(): Promise<void> {
    const { agent } = this.plan.options;
    const version = await agentVersion(agent, this.sandbox.repository.handle, this.#over.signal);
    if (version !== undefined)
      this.#file.write({ type: "agent", version: this.session.redactor.text(version) });
  }

  iteration(iteration: number, prompt: string): void {
    this.#iteration = iteration;
    this.#isSettled = false;
    const shown = cut(this.session.redactor.text(prompt));
    this.#file.write({ type: "iteration", iteration, promptSha256: sha256(prompt), prompt: shown });
  }

  /** Records an event of the agent, without secrets. */
  event(event: AgentStreamEvent): void {
    const recorded = recordedEvent(event);
    if (recorded !== undefined) this.#file.write({ type: "event", event: recorded });
    for (const action of this.#actions.push(event)) this.#act(action);
  }

  #act(action: Action): void {
    if (this.#lastAction >= MAX_ACTIONS) {
      this.#warn(`The run has ${MAX_ACTIONS} actions: no more are recorded.`);
      return;
    }
    this.#isSettled = false;
    this.#file.write({ type: "action", number: ++this.#lastAction, ...action });
    this.checkpoints.noteAction(this.#lastAction);
  }

  #noteCheckpoint({ number, from, sha, isIncomplete }: NewCheckpoint): void {
    const iteration = this.#iteration;
    if (number > this.#lastAction) {
      this.#lastAction = number;
      this.#file.write({ type: "action", number, iteration, input: OUTSIDE });
    }
    this.#file.write({
      ...{ type: "checkpoint", number, from, iteration, sha },
      ...(isIncomplete && { isIncomplete }),
    });
  }

  /** The agent has ended its turn: takes the last checkpoint of the iteration. Bounded time. */
  settle(failed: boolean): Effect.Effect<void> {
    return Effect.promise(async () => {
      if (this.#isSettled) return;
      for (const action of this.#actions.end()) this.#act(action);
      await this.checkpoints.settle(failed);
      this.#isSettled = true;
    });
  }

  /** Records the test results of a commit, after an iteration. */
  tests(iteration: number, results: TestResults, commit: string): void {
    const told = redactData(this.session.redactor, results);
    this.#file.write({ type: "tests", iteration, action: this.#lastAction, commit, results: told });
  }

  /** Copies the artifacts out of the sandbox, once, while the sandbox exists. */
  takeArtifacts(failed: boolean): Effect.Effect<void> {
    const globs = this.#artifactGlobs;
    if (globs.length === 0 || this.#hasArtifacts) return Effect.void;
    this.#hasArtifacts = true;
    const { handle } = this.sandbox.repository;
    const warn = (sentence: string) => this.#warn(sentence);
    return Effect.promise(async () => {
      const artifacts = await bringArtifacts(this.session, handle, globs, { failed, warn });
      for (const { path, bytes } of artifacts) this.#file.write({ type: "artifact", path, bytes });
    });
  }

  end(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> {
    const failed = exit._tag === "Failure";
    const unlessFailed = this.session.progress.solved === false ? "unsolved" : "succeeded";
    const state = !failed ? unlessFailed : Cause.hasInterrupts(exit.cause) ? "aborted" : "failed";
    return Effect.ensuring(
      this.takeArtifacts(failed),
      Effect.promise(async () => {
        this.#over.abort();
        await this.#version;
        this.#file.write({ type: "ended", state });
        if (this.#file.failure !== undefined)
          this.#warn(`The trajectory is not complete: ${this.#file.failure}`);
      }),
    );
  }
}

/** Starts to record a run, if the options ask for it. */
export const openTrajectory = (
  session: RecordedSession,
  sandbox: RecordedSandbox,
  plan: RecordedAgent,
): Trajectory | undefined => {
  if (plan.options.trajectory === undefined) return undefined;
  return new Trajectory(session, sandbox, plan, sandbox.checkout.tip);
};
