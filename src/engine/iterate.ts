import * as Effect from "effect/Effect";
import type { AgentStreamEvent } from "../agents/contract.ts";
import { EventRedactor } from "../env/redactEvents.ts";
import type { Redactor } from "../env/redactor.ts";
import type { SandduneError } from "../errors.ts";
import { exportingHandle } from "../git/exportFromSandbox.ts";
import { interruptible } from "../process/interruptible.ts";
import { expandPrompt } from "../prompt/expandPrompt.ts";
import type { IterationResult } from "../results.ts";
import type { AgentInvoker } from "./agentInvoker.ts";
import { importWork, type WorkImport } from "./importWork.ts";
import { type IterationEnd, runIterations } from "./iterationLoop.ts";
import { timed } from "./phases.ts";
import { readOutput } from "./readOutput.ts";
import { sandboxDirectory, sandboxForRun } from "./sandboxForRun.ts";
import { TagReader } from "./tagReader.ts";

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

const importIteration = (
  { context, ...work }: WorkImport,
  { iteration, result, failed, isLast }: IterationEnd,
) => {
  const { progress, journal } = context;
  return timed(
    context,
    { phase: "import commits", label: "Importing commits" },
    importWork({ context, ...work }, { label: `iteration-${iteration}`, isLast, failed }),
  ).pipe(
    Effect.tap(() =>
      Effect.sync(() => {
        if (!failed) progress.iterations.push(redactSession(context.redactor, result));
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
  work: WorkImport,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { context } = work;
  const { plan, progress, display, tally } = context;
  const { repository } = work.session;
  const { output, logging } = plan;
  const tag = output && new TagReader(output.tag);
  const cwd = sandboxDirectory(plan, repository.handle);
  const events = new EventRedactor(context.redactor, (event) => {
    if (event.type === "text") {
      progress.addText(event.text);
      tag?.push(event.text);
    }
    tally.count(event);
    display.event(event);
    tellCaller(logging.onAgentStreamEvent, event);
  });
  const redactCaptured = (text: string, captureBytes: number) =>
    context.redactor.capturedEnd(text, captureBytes);
  const expansion = {
    redactCaptured,
    sandbox: sandboxForRun(plan, repository.handle),
    cwd,
    timeoutMs: plan.promptExpansionMs,
  };
  context.sandboxIsUsed = true;
  progress.completionSignal = yield* runIterations({
    agent: plan.agent,
    sandbox: sandboxForRun(plan, exportingHandle(repository, work.checkout.branch)),
    cwd,
    beginIteration: (iteration) =>
      timed(
        context,
        { phase: "expand the prompt", label: "Expanding the prompt" },
        expandPrompt(plan.prompt, expansion),
      ).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            context.agentHasStarted = true;
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
    () => readOutput(output, { found: tag?.found, agentText: progress.text, redactor: context.redactor }),
    (reason) => reason as SandduneError,
  );
});
