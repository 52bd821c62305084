import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { misfit } from "../../git/setups/fits.ts";
import type { KeptSetup } from "../../git/setups/keptSetup.ts";
import { NONE_BEFORE, type UntrackedBefore } from "../../git/setups/layer.ts";
import { setupName, type TakenSetup, takeSetup } from "../../git/setups/storeSetup.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { useRemover } from "../../sandboxes/snapshots.ts";
import { ageOf } from "../../tools/age.ts";
import { briefly } from "../../tools/shorten.ts";
import type { SandboxPlan, SetupPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import { type SetupKey, setupKey } from "./setupKey.ts";

/** The first hooks of a sandbox, whose result later sandboxes can start from. */
export interface OpenSetup {
  readonly plan: SetupPlan;
  readonly key: SetupKey;
  readonly name: string;
  readonly commit: string;
  /** The sandbox starts from it, and the hooks do not run. */
  taken: TakenSetup | undefined;
  /** An entry of the same key that this run cannot start from. A new one replaces it. */
  unusable: KeptSetup | undefined;
  /** Why the result of the hooks is not kept. */
  reason: string | undefined;
  /** The untracked files that existed before the hooks. */
  before: UntrackedBefore;
  /** The state of the sandbox's git directory before the hooks. */
  gitBefore: ReadonlyMap<string, string>;
}

/** How much is shown of a hook's command. */
const MAX_SHOWN = 80;

/** The list of hooks for people. Redacted before it is cut: the redactor does not know a part of a secret. */
export const shown = ({ redactor }: Pick<Session, "redactor">, { hooks }: SetupPlan): string =>
  hooks.map(({ command }) => briefly(redactor.text(command), MAX_SHOWN)).join("; ");

/** Who made a kept set-up, and when. */
export const origin = ({ record: { madeAt, runId } }: KeptSetup): string =>
  `made ${ageOf(madeAt)} ago by run ${runId}`;

/** The run does not start from the entry that it has found. */
export const dropTaken = (session: Session, setup: OpenSetup, problem: string): void => {
  const { taken } = setup;
  if (taken === undefined) return;
  taken.release();
  setup.taken = undefined;
  setup.unusable = taken;
  session.display.note(`The kept set-up is not used, because ${problem}. The hooks run again.`);
};

/** Finds the kept set-up for the first hooks of a sandbox that starts from a commit; `undefined` if the provider supports none. */
export const openSetup = Effect.fnUntraced(function* (
  session: Session,
  plan: Pick<SandboxPlan<SandboxProvider>, "provider" | "usesSudo" | "setup">,
  commit: string,
): Effect.fn.Return<OpenSetup | undefined, SandduneError> {
  const { provider, usesSudo, setup } = plan;
  const { repository } = session.plan;
  if (setup === undefined) return undefined;
  if (provider.type !== "bind-mount" || provider.snapshotBase === undefined) {
    session.progress.warn(
      `The sandbox provider ${provider.name} cannot keep the result of hooks: these run in every sandbox, although they have \`cache\`.`,
    );
    return undefined;
  }
  useRemover(provider);
  const key = yield* setupKey(session, { provider, usesSudo }, setup, commit);
  const name = setupName(key);
  const opened: OpenSetup = {
    plan: setup,
    key,
    name,
    commit,
    taken: yield* takeSetup(repository, name, session.journal.filesDirectory),
    unusable: undefined,
    reason: undefined,
    before: NONE_BEFORE,
    gitBefore: new Map(),
  };
  if (opened.taken === undefined) return opened;
  const problem = yield* misfit(repository, opened.taken.record, commit).pipe(
    Effect.catch((error) => Effect.succeed(error.message)),
  );
  if (problem !== undefined) dropTaken(session, opened, problem);
  return opened;
});
