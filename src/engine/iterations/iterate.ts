import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentStreamEvent } from "../../agents/contract.ts";
import type { SandduneError } from "../../errors.ts";
import { prepareToRead, prepareToUpdateRefs } from "../../git/longLived/sharedGit.ts";
import type { IterationResult } from "../../options/results.ts";
import { expandPrompt } from "../../prompt/expandPrompt.ts";
import { EventRedactor } from "../../redaction/redactEvents.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { sandboxDirectory, withEnv } from "../../sandboxes/handle/handleWithEnv.ts";
import type { AgentInvoker } from "../agent/agentInvoker.ts";
import { AgentSessionTransfer } from "../agent/sessionTransfer.ts";
import { UnknownLines } from "../agent/unknownLines.ts";
import { withFeedback } from "../environment/feedback.ts";
import { IterationTests } from "../environment/iterationTests.ts";
import { mcpServersFor } from "../environment/testAccess.ts";
import { importWork, type SandboxWork } from "../landing/importWork.ts";
import type { AgentPlan } from "../plan/plan.ts";
import { packingHandle } from "../sandbox/sandboxSession.ts";
import { timed } from "../session/phases.ts";
import { importWhileWorking } from "./importWhileWorking.ts";
import { type IterationEnd, runIterations } from "./iterationLoop.ts";
import { LiveUsage } from "./liveUsage.ts";
import { StructuredOutput } from "./structuredOutput.ts";

/** How much of an unrecognised line is shown. */
const SAMPLE_LENGTH = 200;

/** Calls the caller's callback. Ignores what it throws or rejects with: that must not affect the run. */
const callCaller = (
  callback: ((event: AgentStreamEvent) => unknown) | undefined,
  event: AgentStreamEvent,
): void => {
  try {
    const answer = callback?.(event);
    // `typeof` also covers promises of another realm, such as a test runner's.
    if (typeof answer === "object") Promise.resolve(answer).catch(() => {});
  } catch {}
};

const redactSession = (redactor: Redactor, result: IterationResult): IterationResult => ({
  ...result,
  ...(result.sessionId !== undefined && { sessionId: redactor.text(result.sessionId) }),
  ...(result.sessionFilePath !== undefined && { sessionFilePath: redactor.text(result.sessionFilePath) }),
});

const importIteration = (work: SandboxWork, { iteration, result, failed, isLast }: IterationEnd) => {
  const { progress, journal, redactor } = work.session;
  return timed(
    work.session,
    { phase: "import commits", label: "Importing commits" },
    importWork(work, {
      label: `iteration-${iteration}`,
      isLast,
      failed,
      isPacked: work.trajectory === undefined,
    }),
  ).pipe(
    Effect.tap(() =>
      Effect.sync(() => {
        const told = redactSession(redactor, result);
        progress.addIteration(told, failed);
        journal.tell({
          type: "iteration",
          iteration,
          ...(told.sessionId !== undefined && { sessionId: told.sessionId }),
          ...(told.usage && { usage: told.usage }),
          commits: progress.commits,
        });
      }),
    ),
  );
};

const saysTheSame = (events: readonly AgentEvent[], line: string): boolean => {
  const [event, ...more] = events;
  if (event === undefined || more.length > 0) return false;
  return event.type === "raw" || (event.type === "text" && event.text === `${line}\n`);
};

/** Runs the iterations: expands the prompt, invokes the agent, shows its events, and imports its commits. */
export const iterate = Effect.fnUntraced(function* (
  work: SandboxWork,
  { options, prompt: template, resume: resumed }: AgentPlan,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { session, sandbox, trajectory } = work;
  const { agent } = options;
  const { progress, display, tally, redactor } = session;
  const { handle } = sandbox.repository;
  /** The agent has printed something: its process has started, and this one waits. */
  const heard = yield* Deferred.make<void>();
  const { env, logging } = session.plan;
  const output =
    options.output && new StructuredOutput(options.output, () => ({ agentText: progress.text, redactor }));
  const cwd = sandboxDirectory(sandbox.checkout.repository, handle);
  const liveUsage = new LiveUsage(session.journal);
  const events = new EventRedactor(redactor, (event) => {
    if (event.type === "text") {
      progress.addText(event.text);
      output?.push(event.text);
    }
    tally.count(event);
    if (event.type === "usage" && tally.usage !== undefined) liveUsage.note(tally.usage);
    display.event(event);
    trajectory?.event(event);
    callCaller(logging.onAgentStreamEvent, event);
  });
  const redactCaptured = (text: string, captureBytes: number) => redactor.capturedEnd(text, captureBytes);
  const expansion = {
    redactCaptured,
    sandbox: withEnv(env, handle),
    cwd,
    timeoutMs: options.timeouts?.promptExpansionMs,
  };
  sandbox.checkout.isUsed = true;
  const transfer = new AgentSessionTransfer(work, agent);
  const resume =
    resumed &&
    (yield* timed(
      session,
      { phase: "agent session", label: "Copying the agent's session into the sandbox" },
      transfer.copyIn(resumed),
    ));
  // Redacted before it is cut: a part of a secret would not be recognised.
  const sampleOf = (line: string) => redactor.text(line).slice(0, SAMPLE_LENGTH);
  let unknownLines = new UnknownLines(sampleOf);
  const finish = Effect.fnUntraced(function* (end: IterationEnd): Effect.fn.Return<void, SandduneError> {
    const warning = unknownLines.warning(agent.name);
    if (warning !== undefined) progress.warn(warning);
    const sessionFilePath =
      agent.sessions &&
      (yield* timed(
        session,
        { phase: "agent session", label: "Capturing the agent's session" },
        transfer.capture(end.result.sessionId, end.failed),
      ));
    const result = {
      ...end.result,
      ...(sessionFilePath !== undefined && { sessionFilePath }),
      ...(unknownLines.count > 0 && { unknownLines: unknownLines.count }),
    };
    unknownLines = new UnknownLines(sampleOf);
    if (trajectory !== undefined) {
      yield* trajectory.settle(end.failed);
      if (end.isLast) yield* trajectory.takeArtifacts(end.failed);
    }
    yield* importIteration(work, { ...end, result });
  });
  const endText = Effect.sync(() => {
    events.flush();
    output?.endText();
  });
  const { environment } = sandbox;
  const tests = environment && new IterationTests(work, environment, options);
  const access = environment?.access;
  progress.completionSignal = yield* runIterations({
    options,
    // Commits that are packed at the end of the agent's command would lack the last checkpoint.
    sandbox: trajectory === undefined ? packingHandle(sandbox) : handle,
    sandboxName: session.plan.sandboxName,
    cwd,
    env: { ...access?.env, ...env.values },
    beginIteration: (iteration, correction) =>
      (correction === undefined
        ? timed(
            session,
            { phase: "expand the prompt", label: "Expanding the prompt" },
            expandPrompt(template, expansion),
          ).pipe(Effect.map((prompt) => withFeedback(prompt, tests?.last)))
        : Effect.succeed(correction)
      ).pipe(
        Effect.tap((prompt) =>
          Effect.sync(() => {
            trajectory?.iteration(iteration, prompt);
            session.agentHasStarted = true;
            sandbox.hasNews = true;
            tally.iterations = iteration;
            if (correction !== undefined) display.note("Asking the agent to correct its output.");
            display.iteration(iteration, Math.max(iteration, options.maxIterations));
          }),
        ),
      ),
    resume,
    mcpServers: mcpServersFor(options, access),
    whileWorking: Effect.all(
      [
        Deferred.await(heard).pipe(Effect.andThen(prepareToRead), Effect.andThen(prepareToUpdateRefs)),
        importWhileWorking(work),
      ],
      {
        concurrency: "unbounded",
      },
    ).pipe(Effect.map(([, never]) => never)),
    tests,
    onEvent: (event) => events.push(event),
    onLine: (line, stream, meaning) => {
      unknownLines.push(line, stream, meaning);
      Deferred.doneUnsafe(heard, Effect.void);
      if (logging.verbose && !saysTheSame(meaning, line)) display.rawLine(line, stream);
    },
    redactCaptured,
    onWait: (until) => display.step(`Waiting for the rate limit to end, until ${until.toISOString()}`),
    onWarning: (sentence) => progress.warn(sentence),
    afterIteration: (end) =>
      Effect.andThen(
        endText,
        Effect.suspend(() => finish(end)),
      ),
    ...(output && { correction: Effect.andThen(endText, output.correction) }),
  });
  tests?.warnIfUnsolved();
  if (tests !== undefined) yield* tests.warnIfChanged();
  if (output !== undefined) progress.output = yield* output.read;
});
