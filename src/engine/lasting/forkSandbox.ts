import * as Effect from "effect/Effect";
import { Turns } from "../../boundary/turns.ts";
import { SandboxError, SandboxLostError, SandduneError } from "../../errors.ts";
import type { SandboxForkOptions } from "../../options/sandbox.ts";
import { disarmRepositories } from "../checkout/cleanUpAfterAgent.ts";
import { keepCopy } from "../checkout/copyCheckout.ts";
import { prepareCheckout } from "../checkout/prepareCheckout.ts";
import { importWork } from "../landing/importWork.ts";
import { type ForkPlan, planForks } from "../plan/planForks.ts";
import { execSession } from "../sandbox/execInSandbox.ts";
import { prepareSandbox } from "../sandbox/prepareSandbox.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { takeSnapshot } from "../sandbox/snapshot.ts";
import { syncFromHost } from "../sandbox/syncFromHost.ts";
import { type Kept, keepSession } from "../session/session.ts";
import { type LastingSandbox, lastingOf } from "./openLasting.ts";

/** More at a time would take longer for each. */
const AT_ONCE = 4;

const requireSnapshots = ({ sandbox, sandboxPlan }: LastingSandbox): Effect.Effect<void, SandboxError> =>
  sandbox.repository.handle.snapshot === undefined
    ? Effect.fail(
        new SandboxError(
          sandboxPlan.provider.name,
          "it cannot be forked, because its provider cannot keep the state of a sandbox. docker, podman, bubblewrap, E2B, Vercel and Modal can",
        ),
      )
    : Effect.void;

/** Imports the work of the sandbox, so that each fork starts from all its commits. */
const importFirst = ({ sandbox, parentSession }: LastingSandbox): Effect.Effect<void, SandduneError> =>
  Effect.suspend(() => {
    const session = execSession(sandbox, parentSession.secrets);
    const work = { session, sandbox, base: sandbox.checkout.tip };
    return importWork(work, {
      label: `fork-${sandbox.execCount}`,
      failed: false,
      isLast: false,
      isPacked: false,
    }).pipe(Effect.ensuring(disarmRepositories(session, sandbox.checkout)));
  });

/** Nothing is left of the forks, so the error is one of the sandbox that was to be forked. */
const noneCreated = <E>(error: E, { sandbox: { owner } }: LastingSandbox, count: number): E => {
  if (!(error instanceof SandduneError)) return error;
  const { runId, branch } = owner.progress;
  const none = count === 1 ? "The fork was not created" : `None of the ${count} forks was created`;
  error.message += `\n${none}; the sandbox on ${branch} is unchanged.`;
  return Object.assign(error, { runId, branch });
};

/** Creates sandboxes with the state of another one, which nothing else uses meanwhile. Either all are created or none. */
export const forkSandbox = (
  parent: LastingSandbox,
  count: number,
  options: SandboxForkOptions,
): Effect.Effect<LastingSandbox[], SandduneError> => {
  const { sandbox } = parent;
  const opened: { readonly plan: ForkPlan; readonly kept: Kept<SandboxSession> }[] = [];
  const create = Effect.gen(function* () {
    yield* requireSnapshots(parent);
    yield* syncFromHost(sandbox);
    // An import that was cut off would count as lost work, and the sandbox as unusable.
    yield* Effect.uninterruptible(importFirst(parent));
    const plans = yield* planForks(parent, count, options);
    const failed = <E>(error: E): E => noneCreated(error, parent, count);
    const taking = takeSnapshot(sandbox, parent.sandboxPlan.provider).pipe(
      Effect.mapError((error) => (error instanceof SandboxLostError ? error : failed(error))),
    );
    yield* Effect.scoped(
      Effect.flatMap(taking, ({ snapshot, use }) =>
        Effect.forEach(
          plans,
          (plan) =>
            keepSession(plan.session, (session) =>
              use.pipe(
                Effect.andThen(prepareCheckout(session, plan.checkout)),
                Effect.flatMap((checkout) =>
                  prepareSandbox(session, checkout, plan.sandbox, {
                    endsWithCall: false,
                    fork: { parent: sandbox, snapshot },
                  }),
                ),
              ),
            ).pipe(
              Effect.map((kept) => opened.push({ plan, kept })),
              Effect.mapError(failed),
            ),
          { concurrency: AT_ONCE, discard: true },
        ),
      ),
    );
    for (const { kept } of opened) keepCopy(kept.session, kept.value.checkout);
    const order = (plan: ForkPlan) => plans.indexOf(plan);
    return opened
      .sort((one, other) => order(one.plan) - order(other.plan))
      .map(({ plan, kept }) => lastingOf(plan, kept, new Turns(), new Map(parent.parentSession.secrets)));
  });
  const removeAll = Effect.suspend(() =>
    Effect.forEach(opened, ({ kept }) => kept.close, { concurrency: AT_ONCE, discard: true }),
  );
  return create.pipe(Effect.onExit((exit) => (exit._tag === "Failure" ? removeAll : Effect.void)));
};
