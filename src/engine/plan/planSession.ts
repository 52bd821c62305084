import { resolve } from "node:path";
import * as Effect from "effect/Effect";
import type { AgentProvider } from "../../agents/contract.ts";
import { attempt } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SessionKind } from "../../display/contract.ts";
import { printNotice } from "../../display/notice.ts";
import { tellIfSlow } from "../../display/slowStep.ts";
import { BranchInUseError, GitError, InvalidOptionsError, type SandduneError } from "../../errors.ts";
import { checkNothingUnfinished, type HostState, listHostRefs, readHostState } from "../../git/hostState.ts";
import { openRepositoryBeside, placeIn, type Repository } from "../../git/repository.ts";
import { checkCopyItems } from "../../git/worktrees/copyToWorktree.ts";
import { inspectSourceBranch } from "../../git/worktrees/worktrees.ts";
import { type BranchStrategy, resolveBranchStrategy } from "../../options/branchStrategy.ts";
import { checkConfigDirectory } from "../../options/configDirectory.ts";
import type { InteractivePromptOption } from "../../options/interactiveOptions.ts";
import type { LoggingOption } from "../../options/logging.ts";
import type { PromptArgs } from "../../options/promptArgs.ts";
import type { CheckoutOptions, SessionOptions } from "../../options/runOptions.ts";
import { readPrompt } from "../../prompt/readPrompt.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import { createRunId } from "../../runs/journal/runId.ts";
import { listRuns } from "../../runs/listRuns.ts";
import { hasUnrecovered } from "../../runs/recover/recoverLocation.ts";
import { requireTrusted } from "../../runs/recover/requireTrusted.ts";
import { forgetUnusable } from "../../runs/recover/unfinishedWorktrees.ts";
import type { InteractiveSandboxProvider, PreflightOptions } from "../../sandboxes/contract.ts";
import { preflight } from "../../sandboxes/handle/preflight.ts";
import { findUserChanges, NO_USER_CHANGES } from "../checkout/userChanges.ts";
import { sourceWarnings } from "../environment/findEnvironment.ts";
import { TOKEN_NAME } from "../environment/planEnvironment.ts";
import { allSecrets, type ParentSession } from "./parentSession.ts";
import type { SandboxPlan, SessionPlan, SourcePlan } from "./plan.ts";
import { NO_ENV, overlayEnv, planEnv, readEnv } from "./planEnv.ts";
import { planPrompt } from "./planPrompt.ts";

const TO_FILE: LoggingOption = { type: "file" };
const ON_TERMINAL: LoggingOption = { type: "stdout" };

/** A call of any entry point. */
export interface PlanRequest {
  readonly kind: SessionKind;
  readonly options: InteractivePromptOption &
    SessionOptions &
    Pick<CheckoutOptions, "cwd" | "copyToWorktree"> & { readonly logging?: LoggingOption };
  readonly agent?: AgentProvider;
  /** Secrets in the options other than env vars. */
  readonly secrets?: ReadonlyMap<string, string>;
  /** Warnings about the options. */
  readonly warnings?: readonly string[];
  /** The sandbox to create. */
  readonly sandbox?: SandboxPlan;
  /** The session whose worktree or sandbox this one uses. */
  readonly parentSession?: ParentSession;
  readonly branchStrategy?: BranchStrategy | undefined;
  /** Asks for missing prompt arguments. Without it, a missing argument is an error. */
  readonly askFor?: (keys: readonly string[], promptFile: string, signal: AbortSignal) => Promise<PromptArgs>;
}

export interface PlannedSession {
  readonly session: SessionPlan;
  /** `undefined` with `head`, and if the worktree exists already. */
  readonly source: SourcePlan | undefined;
  /** Empty if there is none. */
  readonly prompt: ResolvedPrompt;
}

/** Reports a slow step on stderr, because there is no display yet. A daemon or a password prompt can take long. */
const reportingIfSlow = <A, E>(
  name: string | undefined,
  label: string,
  step: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const tell = (sentence: string) => printNotice(name, sentence);
    const end = tellIfSlow(label, tell, tell);
    return Effect.onExit(step, () => Effect.sync(end));
  });

const checkSandbox = (
  sandbox: InteractiveSandboxProvider,
  options: Omit<PreflightOptions, "signal">,
): Effect.Effect<void, SandduneError> =>
  interruptible(async (signal) => {
    if (sandbox.type !== "none") await preflight(sandbox, { ...options, signal });
  });

/** Reads the host's state. A dead run's incomplete worktree makes git fail; then it is removed first. */
const readHost = (
  repository: Repository,
  listed: ReturnType<typeof listHostRefs>,
): Effect.Effect<HostState, SandduneError> =>
  readHostState(repository, listed).pipe(
    Effect.catchIf(
      (error) => error instanceof GitError,
      (error) =>
        Effect.suspend(() => forgetUnusable(repository, listRuns(repository))).pipe(
          Effect.flatMap((hasForgotten) => (hasForgotten ? readHostState(repository) : Effect.fail(error))),
        ),
    ),
  );

/** The repository, and how to learn its state. A session in an existing worktree reads it when its turn comes. */
const findRepository = Effect.fnUntraced(function* ({ parentSession, options }: PlanRequest) {
  if (parentSession !== undefined) {
    return { repository: parentSession.repository, host: Effect.succeed(parentSession.host) };
  }
  const cwd = resolve(options.cwd ?? ".");
  yield* attempt(() => requireTrusted(cwd));
  const { repository, besides } = yield* openRepositoryBeside(cwd, listHostRefs);
  yield* attempt(() => checkConfigDirectory(repository.configDirectory));
  return { repository, host: readHost(repository, besides) };
});

const declaredEnv = ({ agent, sandbox, parentSession, options }: PlanRequest) => ({
  agent: agent?.env ?? {},
  sandbox: sandbox?.provider.env ?? parentSession?.sandboxEnv ?? {},
  run: overlayEnv(parentSession?.env ?? {}, options.env ?? {}),
});

/** A dead run's worktree is no problem here: it is recovered later, and the branch is checked again. */
const checkSource = (
  repository: Repository,
  host: HostState,
  { branch, from }: SourcePlan,
): Effect.Effect<void, SandduneError> =>
  inspectSourceBranch(repository, host, branch, from).pipe(
    Effect.asVoid,
    Effect.catchIf(
      (error) =>
        error instanceof BranchInUseError && hasUnrecovered({ repository, branch, checkoutPath: undefined }),
      () => Effect.void,
    ),
  );

/** Makes all decisions about a session, and checks that it is possible, before anything is created. */
export const planSession = Effect.fnUntraced(function* (
  request: PlanRequest,
): Effect.fn.Return<PlannedSession, SandduneError> {
  const startedAt = performance.now();
  const { options, agent, sandbox, parentSession } = request;
  const runId = createRunId();
  const { repository, host: readingHost } = yield* findRepository(request);
  const unresolvedPrompt = yield* interruptible((signal) => readPrompt(options, repository, signal));
  const hasEnv = agent !== undefined || sandbox !== undefined;
  const [host, envPlan, sandboxCheck] = yield* Effect.all(
    [
      readingHost,
      hasEnv ? planEnv(declaredEnv(request), repository) : Effect.succeed(undefined),
      Effect.exit(
        sandbox === undefined
          ? Effect.void
          : reportingIfSlow(
              options.name,
              `Checking the ${sandbox.provider.name} sandbox`,
              checkSandbox(sandbox.provider, {
                ...placeIn(repository),
                usesSudo: sandbox.usesSudo,
                usesTerminal: request.kind === "interactive",
              }),
            ),
      ),
    ],
    { concurrency: "unbounded" },
  );
  const branches =
    parentSession?.branches ??
    (yield* attempt(() =>
      resolveBranchStrategy(request.branchStrategy, sandbox?.provider.type ?? "bind-mount", host.head, runId),
    ));
  const { prompt, warnings } = yield* planPrompt({
    prompt: unresolvedPrompt,
    args: options.promptArgs ?? {},
    branches,
    headSha: host.head.sha,
    askFor: request.askFor,
  });
  // Without a sandbox, the agent uses the user's git, which sees an unfinished merge or rebase itself.
  const isUsersOwn = sandbox?.provider.type === "none";
  if (parentSession === undefined && branches.strategy === "head" && !isUsersOwn) {
    yield* attempt(() => checkNothingUnfinished(repository));
  }
  const userChanges =
    parentSession === undefined && branches.strategy === "head"
      ? yield* findUserChanges(repository)
      : NO_USER_CHANGES;
  const source =
    parentSession !== undefined || branches.strategy === "head"
      ? undefined
      : { branch: branches.sourceBranch, from: branches.from };
  if (source !== undefined) yield* checkSource(repository, host, source);
  yield* attempt(() => {
    const copyItems = options.copyToWorktree ?? [];
    if (branches.strategy === "head" && copyItems.length > 0) {
      throw new InvalidOptionsError(
        "copyToWorktree",
        "with the `head` strategy there is no worktree: the agent works in your checkout, which has these files. Use `merge-to-head` or `branch`.",
      );
    }
    checkCopyItems(repository, copyItems);
  });
  // Errors in the options come first, then problems of the sandbox. Passwords are asked for last.
  yield* sandboxCheck;
  const sources = envPlan?.sources ?? new Map();
  const values =
    sources.size === 0
      ? NO_ENV
      : yield* reportingIfSlow(
          options.name,
          `Asking for the values of ${[...sources.keys()].join(", ")}`,
          readEnv(sources),
        );
  const environment = sandbox?.environment;
  const secrets = new Map([
    ...values.secrets,
    ...(request.secrets ?? []),
    ...(environment === undefined ? [] : [[TOKEN_NAME, environment.token] as const]),
  ]);
  const session: SessionPlan = {
    runId,
    kind: request.kind,
    startedAt,
    name: options.name,
    repository,
    host,
    branches,
    userChanges: userChanges.paths,
    env: { ...values, secrets: parentSession === undefined ? secrets : allSecrets(secrets, parentSession) },
    logging: request.kind === "interactive" ? ON_TERMINAL : (options.logging ?? TO_FILE),
    agentName: agent?.name,
    sandboxName: sandbox?.provider.name ?? parentSession?.sandboxName,
    within: parentSession?.runId,
    warnings: [
      ...userChanges.warnings,
      ...warnings,
      ...(envPlan?.warnings ?? []),
      ...(request.warnings ?? []),
      ...(environment === undefined ? [] : sourceWarnings(environment.source, branches.strategy === "head")),
    ],
    signal: options.signal,
  };
  return { session, source, prompt };
});
