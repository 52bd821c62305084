import * as Effect from "effect/Effect";
import type { CallerFailure } from "../../boundary/boundary.ts";
import { CallersCode } from "../../boundary/callersCode.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { ProcessTimeoutError, type SandduneError } from "../../errors.ts";
import type { SandboxExecResult } from "../../options/results.ts";
import type { SandboxExecOptions } from "../../options/sandboxOptions.ts";
import { redactData } from "../../redaction/redactData.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import type { ExecOptions, ExecResult } from "../../sandboxes/contract.ts";
import { sandboxDirectory, withEnv } from "../../sandboxes/handle/handleWithEnv.ts";
import { disarmRepositories } from "../checkout/cleanUpAfterAgent.ts";
import { importWork } from "../landing/importWork.ts";
import { allSecrets, type ParentSession } from "../plan/parentSession.ts";
import { withFinalStep } from "../session/finalStep.ts";
import { redactedDisplay } from "../session/redactedDisplay.ts";
import { RunProgress } from "../session/runProgress.ts";
import { redactorFor, type Session, withProgressInErrors } from "../session/session.ts";
import { packingHandle, type SandboxSession } from "./sandboxSession.ts";
import { syncFromHost } from "./syncFromHost.ts";

/** The error for the caller: it names the caller's command without our wrapper, and is redacted. */
const errorForCaller = (error: SandduneError, command: string, redactor: Redactor): SandduneError =>
  redactData(
    redactor,
    error instanceof ProcessTimeoutError
      ? new ProcessTimeoutError(command, error.timeoutMs, error.stderr, error.stdout)
      : error,
  );

/** A command has no journal and no log of its own: it uses those of the session that created the sandbox. */
export const execSession = (sandbox: SandboxSession, secrets: ReadonlyMap<string, string>): Session => {
  const { owner } = sandbox;
  const { runId } = owner.plan;
  sandbox.execCount++;
  // Each command has its own refs, so that none replaces those of another.
  const plan = { ...owner.plan, runId: `${runId}-exec-${sandbox.execCount}` };
  const redactor = redactorFor(plan, secrets);
  const display = redactedDisplay(owner.display, redactor);
  const branch = plan.branches.sourceBranch ?? "HEAD";
  const onWarning = (sentence: string) => display.warn(sentence);
  const progress = new RunProgress(runId, branch, owner.progress.logFilePath, redactor, onWarning);
  return { ...owner, plan, redactor, display, progress };
};

const runCommand = Effect.fnUntraced(function* (
  session: Session,
  sandbox: SandboxSession,
  command: string,
  options: ExecOptions,
): Effect.fn.Return<ExecResult, SandduneError | CallerFailure> {
  const { display, progress, redactor } = session;
  const { checkout } = sandbox;
  yield* syncFromHost(sandbox);
  const base = checkout.tip;
  const handle = withEnv(session.plan.env, packingHandle(sandbox));
  const callersCode = new CallersCode();
  const forwardLine = (forward: ((line: string) => void) | undefined) => (line: string) => {
    display.hookLine("exec", line);
    callersCode.call(() => forward?.(line));
  };
  const importCommitsAfter = (failed: boolean) =>
    importWork(
      { session, sandbox, base },
      { label: `exec-${sandbox.execCount}`, failed, isLast: false, isPacked: true },
    ).pipe(Effect.ensuring(disarmRepositories(session, checkout)));
  display.note(`exec: ${command}`);
  checkout.isUsed = true;
  sandbox.hasNews = true;
  const ran = interruptible((signal) =>
    handle.exec(command, {
      ...options,
      cwd: options.cwd ?? sandboxDirectory(checkout.repository, handle),
      onLine: forwardLine(options.onLine),
      onStderrLine: forwardLine(options.onStderrLine),
      ...(options.stdin !== undefined && { stdin: callersCode.input(options.stdin) }),
      signal,
    }),
  ).pipe(Effect.mapError((error) => callersCode.failure ?? errorForCaller(error, command, redactor)));
  return yield* withFinalStep(ran, {
    onFailure: () => importCommitsAfter(true),
    onSuccess: () => importCommitsAfter(false),
    warn: (sentence) => progress.warn(sentence),
  });
});

/** Runs the caller's command in an existing sandbox, and imports its commits. */
export const execInSandbox = (
  sandbox: SandboxSession,
  parentSession: ParentSession,
  command: string,
  { signal, env = {}, ...options }: SandboxExecOptions,
): Effect.Effect<SandboxExecResult, SandduneError | CallerFailure> =>
  Effect.suspend(() => {
    const entries = Object.entries(env);
    const isSecret = (entry: (typeof entries)[number]): entry is [string, string] =>
      typeof entry[1] === "string";
    const values = Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === "string" ? value : value.public]),
    );
    const session = execSession(sandbox, allSecrets(new Map(entries.filter(isSecret)), parentSession));
    return withProgressInErrors(
      session,
      runCommand(session, sandbox, command, { ...options, env: values }),
      signal,
    ).pipe(
      Effect.map((result) => {
        const { commits, keptRefs, protectedPaths, warnings } = session.progress.reached();
        return { ...result, commits, ...(keptRefs && { keptRefs }), protectedPaths, warnings };
      }),
    );
  });
