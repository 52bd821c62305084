import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { placeIn } from "../../git/repository.ts";
import { type KeyFile, readKeyFiles } from "../../git/setups/keyFiles.ts";
import type { BindMountSandboxProvider } from "../../sandboxes/contract.ts";
import { providerError } from "../../sandboxes/handle/openHandle.ts";
import type { SandboxPlan, SetupPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";

/** Changes when a kept set-up has other parts, or they mean something else. */
const FORMAT = 1;

/** Everything that the result of hooks depends on, as far as it is known. It holds no secret value. */
export interface SetupKey {
  readonly format: number;
  readonly provider: string;
  /** The image, or the host's programs. */
  readonly base: string;
  /** Where the provider makes snapshots. */
  readonly place?: string;
  readonly hooks: readonly { readonly command: string; readonly sudo: boolean }[];
  /** Root's rights in the sandbox. */
  readonly usesSudo: boolean;
  /** The directory of the repository where the hooks run. */
  readonly directory: string;
  readonly user: number | undefined;
  /** The names of all env vars, and the values of those that are public. */
  readonly env: readonly string[];
  readonly files: readonly KeyFile[];
}

/** Asks the provider and git for the key of hooks that run on a commit. */
export const setupKey = (
  { plan: { repository, env } }: Session,
  { provider, usesSudo }: Pick<SandboxPlan<BindMountSandboxProvider>, "provider" | "usesSudo">,
  { hooks, keyFiles }: SetupPlan,
  commit: string,
): Effect.Effect<SetupKey, SandduneError> =>
  Effect.all(
    [
      interruptible(
        async (signal) => (await provider.snapshotBase?.({ ...placeIn(repository), usesSudo, signal })) ?? "",
        providerError(provider.name, "snapshotBase failed"),
      ),
      interruptible(
        async () => provider.snapshotPlace?.(),
        providerError(provider.name, "snapshotPlace failed"),
      ),
      readKeyFiles(repository, commit, keyFiles),
    ],
    { concurrency: "unbounded" },
  ).pipe(
    Effect.map(([base, place, files]) => ({
      format: FORMAT,
      provider: provider.name,
      base,
      ...(place !== undefined && { place }),
      hooks: hooks.map(({ command, sudo = false }) => ({ command, sudo })),
      usesSudo,
      directory: repository.prefix,
      user: process.getuid?.(),
      env: Object.entries(env.values)
        .map(([name, value]) => (env.secrets.has(name) ? name : `${name}=${value}`))
        .sort(),
      files,
    })),
  );
