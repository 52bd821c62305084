import * as Effect from "effect/Effect";
import type { AgentStreamEvent } from "../agents/contract.ts";
import { EventRedactor } from "../env/redactEvents.ts";
import type { Redactor } from "../env/redactor.ts";
import type { SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { expandPrompt } from "../prompt/expandPrompt.ts";
import type { IterationResult } from "../results.ts";
import type { AgentInvoker } from "./agentInvoker.ts";
import { sandboxDirectory, withEnv } from "./handleWithEnv.ts";
import { importWork, type SandboxWork } from "./importWork.ts";
import { type IterationEnd, runIterations } from "./iterationLoop.ts";
import { timed } from "./phases.ts";
import type { AgentPlan } from "./plan.ts";
import { readOutput } from "./readOutput.ts";
import { packingHandle } from "./sandboxSession.ts";
import { TagReader } from "./tagReader.ts";
import { askingCaller } from "./waitingCalls.ts";

/** Hands an event to the caller, whose mistakes are not the run's: not what is thrown, nor what is rejected later. */
const tellCaller = (
  callback: ((event: AgentStreamEvent) => unknown) | undefined,
  event: AgentStreamEvent,
): void => {
  try {
    const answer = callback?.(event);
    // Of any realm: a test runner has its own promises.
    if (typeof answer === "object") Promise.resolve(answer).catch(() => {});
  } catch {}
};

const redactSession = (redactor: Redactor, result: IterationResult): IterationResult =>
  result.sessionId === undefined ? result : { ...result, sessionId: redactor.text(result.sessionId) };

const importIteration = (work: SandboxWork, { iteration, result, failed, isLast }: IterationEnd) => {
  const { progress, journal, redactor } = work.session;
  return timed(
    work.session,
    { phase: "import commits", label: "Importing commits" },
    importWork(work, { label: `iteration-${iteration}`, isLast, failed, isPacked: true }),
  ).pipe(
    Effect.tap(() =>
      Effect.sync(() => {
        if (!failed) progress.iterations.push(redactSession(redactor, result));
        journal.tell({
          type: "iteration",
          iteration,
          ...(result.usage && { usage: result.usage }),
          commits: progress.commits,
        });
      }),
    ),
  );
};

/** The iterations of a run: expands the prompt, invokes the agent, shows what it says, and imports what it commits. */
export const iterate = Effect.fnUntraced(function* (
  work: SandboxWork,
  plan: AgentPlan,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { session, sandbox } = work;
  const { progress, display, tally, redactor } = session;
  const { handle } = sandbox.repository;
  const { output } = plan;
  const { env, logging } = session.plan;
  const tag = output && new TagReader(output.tag);
  const cwd = sandboxDirectory(sandbox.checkout.repository, handle);
  const events = new EventRedactor(redactor, (event) => {
    if (event.type === "text") {
      progress.addText(event.text);
      tag?.push(event.text);
    }
    tally.count(event);
    display.event(event);
    tellCaller(logging.onAgentStreamEvent, event);
  });
  const redactCaptured = (text: string, captureBytes: number) => redactor.capturedEnd(text, captureBytes);
  const expansion = {
    redactCaptured,
    sandbox: withEnv(env, handle),
    cwd,
    timeoutMs: plan.promptExpansionMs,
  };
  sandbox.checkout.isUsed = true;
  progress.completionSignal = yield* runIterations({
    agent: plan.agent,
    sandbox: withEnv(env, packingHandle(sandbox)),
    cwd,
    beginIteration: (iteration) =>
      timed(
        session,
        { phase: "expand the prompt", label: "Expanding the prompt" },
        expandPrompt(plan.prompt, expansion),
      ).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            session.agentHasStarted = true;
            sandbox.hasNews = true;
            tally.iterations = iteration;
            display.iteration(iteration, plan.maxIterations);
          }),
        ),
      ),
    maxIterations: plan.maxIterations,
    completionSignals: plan.completionSignals,
    idleTimeoutMs: plan.idleTimeoutMs,
    completionTimeoutMs: plan.completionTimeoutMs,
    onEvent: (event) => events.push(event),
    ...(logging.verbose && { onRawLine: (line, stream) => display.rawLine(line, stream) }),
    redactCaptured,
    onWarning: (sentence) => progress.warn(sentence),
    afterIteration: (end) =>
      Effect.suspend(() => {
        events.flush();
        tag?.endText();
        return importIteration(work, end);
      }),
  });
  if (output === undefined) return;
  progress.output = yield* interruptible(
    () => askingCaller(() => readOutput(output, { found: tag?.found, agentText: progress.text, redactor })),
    (reason) => reason as SandduneError,
  );
});
