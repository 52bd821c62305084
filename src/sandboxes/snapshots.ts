import { SandboxError } from "../errors.ts";
import type { SandboxProvider, SandboxSnapshot } from "./contract.ts";
import { findProvider } from "./registry.ts";

type Remover = Pick<SandboxProvider, "name" | "removeSnapshot" | "snapshotPlace">;

/** A snapshot, and where it was made. */
export interface PlacedSnapshot extends SandboxSnapshot {
  readonly place?: string | undefined;
}

const custom = new Map<string, Remover>();

/** Lets this process remove snapshots of a provider that only a program knows. */
export const useRemover = (provider: Remover): void => {
  if (findProvider(provider.name) === undefined) custom.set(provider.name, provider);
};

const findRemover = async (provider: string): Promise<Remover | undefined> =>
  custom.get(provider) ?? findProvider(provider)?.create?.({}, { network: true });

/** Resolves with the reason why a snapshot cannot be reached here; `undefined` if it can. */
export const whyUnreachable = async (
  provider: string,
  { name, place }: Pick<PlacedSnapshot, "name" | "place">,
): Promise<string | undefined> => {
  if (place === undefined) return undefined;
  const here = await (await findRemover(provider))?.snapshotPlace?.();
  return here === undefined || here === place
    ? undefined
    : `the snapshot ${name} is at ${place}, and ${provider} uses ${here} now. Set the environment as it was then`;
};

/** Removes what a provider keeps of a snapshot outside of its directory. Rejects if the provider is not known here. */
export const removeSnapshot = async (provider: string, snapshot: PlacedSnapshot): Promise<void> => {
  const remover = await findRemover(provider);
  if (remover === undefined)
    throw new SandboxError(
      provider,
      `the snapshot ${snapshot.name} cannot be removed here, because only the program that uses the provider knows how`,
    );
  const problem = await whyUnreachable(provider, snapshot);
  if (problem !== undefined) throw new SandboxError(provider, problem);
  await remover.removeSnapshot?.(snapshot);
};
