import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { holdScreen } from "../../display/screen.ts";
import { AgentFailedError, AgentNotFoundError, SandboxError, type SandduneError } from "../../errors.ts";
import { describeExitCode } from "../../process/exitCode.ts";
import { expandPrompt } from "../../prompt/expandPrompt.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { sandboxDirectory, withEnv } from "../../sandboxes/handle/handleWithEnv.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { COMMAND_NOT_FOUND, commandLineOf, programOf } from "../agent/agentCommand.ts";
import { checkedInteraction } from "../agent/providerChecks.ts";
import { importWork } from "../landing/importWork.ts";
import { land } from "../landing/land.ts";
import type { InteractionPlan } from "../plan/plan.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { withFinalStep } from "../session/finalStep.ts";
import { timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";
import { captureInteractive } from "./captureSessions.ts";
import { type HostLocation, recordHostWork } from "./hostLocation.ts";
import { promptSizeProblem } from "./promptSize.ts";

/** Where the agent works: in a sandbox, or on the host. */
export type AgentLocation = SandboxSession | HostLocation;

const handleOf = (location: AgentLocation): SandboxHandle =>
  location.type === "host" ? location.handle : location.repository.handle;

/** Whether the program exists. The exit code is the same after a mistyped command in a shell. */
const isThere = (
  handle: SandboxHandle,
  cwd: string,
  program: string,
): Effect.Effect<boolean, SandduneError> =>
  interruptible((signal) => handle.exec(`command -v -- ${shellQuote(program)}`, { cwd, signal })).pipe(
    Effect.map((answer) => answer.exitCode === 0),
  );

/** Shows the agent's own interface in the terminal, until the person leaves it. Succeeds with the exit code. */
const showAgent = Effect.fnUntraced(function* (
  session: Session,
  location: AgentLocation,
  { options: { agent, timeouts }, prompt }: InteractionPlan,
): Effect.fn.Return<number, SandduneError> {
  const handle = withEnv(session.plan.env, handleOf(location));
  const cwd = sandboxDirectory(location.checkout.repository, handle);
  const expansion = {
    sandbox: handle,
    cwd,
    timeoutMs: timeouts?.promptExpansionMs,
    redactCaptured: (text: string, captureBytes: number) => session.redactor.capturedEnd(text, captureBytes),
  };
  const expanded =
    prompt &&
    (yield* timed(
      session,
      { phase: "expand the prompt", label: "Expanding the prompt" },
      expandPrompt(prompt, expansion),
    ));
  const tooLong = expanded === undefined ? undefined : promptSizeProblem(expanded);
  if (tooLong !== undefined) return yield* Effect.fail(tooLong);
  const { interactiveExec } = handle;
  if (interactiveExec === undefined) {
    return yield* Effect.fail(new SandboxError(handle.name, "it does not support a terminal"));
  }
  const program = yield* Effect.try({
    try: () =>
      checkedInteraction(
        agent.interactiveCommand?.({
          prompt: expanded,
          dangerouslySkipPermissions: location.type === "sandbox",
          cwd,
        }),
      ),
    catch: (reason) =>
      new AgentFailedError(agent.name, `its agent provider failed: ${messageOf(reason)}`, undefined, ""),
  });
  session.agentHasStarted = true;
  const exitCode = yield* Effect.acquireUseRelease(
    Effect.sync(holdScreen),
    () =>
      interruptible(async (signal) => {
        const env = { ...program.env, ...session.plan.env.values };
        return (await interactiveExec(commandLineOf(program), { cwd, signal, env })).exitCode;
      }),
    (showScreen) => Effect.sync(showScreen),
  );
  if (exitCode !== COMMAND_NOT_FOUND || (yield* isThere(handle, cwd, programOf(program)))) return exitCode;
  const isOnHost = location.type === "host";
  return yield* Effect.fail(
    new AgentNotFoundError(
      agent.name,
      programOf(program),
      isOnHost ? undefined : (session.plan.sandboxName ?? handle.name),
      isOnHost ? [] : agent.installation?.dockerfile,
    ),
  );
});

const importCommits = (session: Session, location: AgentLocation, base: string, failed: boolean) =>
  timed(
    session,
    { phase: "import commits", label: "Importing commits" },
    location.type === "host"
      ? recordHostWork(session, location, base)
      : importWork(
          { session, sandbox: location, base },
          { label: "interactive", failed, isLast: true, isPacked: false },
        ),
  );

/** An interactive session: shows the agent, imports its commits, and lands them if the agent succeeded. */
export const interact = Effect.fnUntraced(function* (
  session: Session,
  location: AgentLocation,
  plan: InteractionPlan,
): Effect.fn.Return<void, SandduneError> {
  const { checkout } = location;
  const { progress } = session;
  const base = checkout.tip;
  if (location.type === "sandbox") {
    checkout.isUsed = true;
    location.hasNews = true;
  }
  const sessions =
    location.type === "sandbox"
      ? captureInteractive({ session, sandbox: location, base }, plan.options.agent)
      : undefined;
  const importCommitsAfter = (failed: boolean) =>
    (sessions?.capture(failed) ?? Effect.void).pipe(
      Effect.andThen(importCommits(session, location, base, failed)),
    );
  if (sessions !== undefined) yield* sessions.begin;
  const exitCode = yield* withFinalStep(
    timed(session, { phase: "agent" }, showAgent(session, location, plan)),
    {
      onFailure: () => importCommitsAfter(true),
      onSuccess: () => importCommitsAfter(false),
      warn: (sentence) => progress.warn(sentence),
    },
  );
  progress.exitCode = exitCode;
  if (exitCode === 0) return yield* land(session, checkout);
  if (checkout.branches.strategy === "merge-to-head" && checkout.tip !== checkout.landed) {
    progress.warn(
      `The agent ended with ${describeExitCode(exitCode)}, so its commits were not merged. They are on ${checkout.branch}: git merge ${checkout.branch}`,
    );
  }
});
