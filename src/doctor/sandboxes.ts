import { BuildContextError } from "../errors/commandErrors.ts";
import { findBuildFile } from "../images/buildFile.ts";
import { checkBuildFile } from "../images/buildImage.ts";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import type { DoctorChecks, ProviderDescription } from "../sandboxes/description/providerDescription.ts";
import { preflight } from "../sandboxes/handle/preflight.ts";
import { sandboxProviders } from "../sandboxes/registry.ts";
import { checkAgents } from "./agents.ts";
import { checkBacklogProgram } from "./backlog.ts";
import { checkCheckouts } from "./checkouts.ts";
import { attempt, type Finding, ok } from "./finding.ts";
import { checkOwner, withProbe } from "./probe.ts";
import type { Situation } from "./situation.ts";

/** A provider that doctor can examine by its name. */
export type ExaminedProvider = ProviderDescription & {
  readonly create: NonNullable<ProviderDescription["create"]>;
  readonly doctor: DoctorChecks;
};

export const examinedProviders: readonly ExaminedProvider[] = sandboxProviders.filter(
  (provider): provider is ExaminedProvider => provider.create !== undefined && provider.doctor !== undefined,
);

export const tryByHand = ({ doctor: { trial } }: ExaminedProvider): string =>
  `Try it yourself: ${trial} – then run again: ${sandduneCommand("doctor")}`;

const placeOf = ({ repository, cwd }: Situation, signal: AbortSignal | undefined) => ({
  repositoryPath: repository?.topLevel ?? cwd,
  ...(signal && { signal }),
});

/** Checks whether a sandbox of another machine could be made, and makes none: that may cost money. */
export const examineRemote = (
  description: ExaminedProvider,
  situation: Situation,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> => {
  const { name, settings } = description;
  const { imageName } = situation;
  return attempt(name, tryByHand(description), async () => {
    const image = imageName !== undefined && "imageName" in settings ? { imageName } : {};
    await preflight(await description.create(image, { network: false }), placeOf(situation, signal));
    return [ok(name, "answers; its image and its agents were not checked")];
  });
};

/** Examines a custom provider. No isolated sandbox is made: that may cost money. */
export const examineCustom = (
  provider: SandboxProvider,
  situation: Situation,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> => {
  const { name } = provider;
  const fix = `Fix the provider – then run again: ${sandduneCommand("doctor")}`;
  const place = placeOf(situation, signal);
  return attempt(name, fix, async () => {
    await preflight(provider, place);
    if (provider.type === "isolated") return [ok(name, "answers; its agents were not checked")];
    const inside = await withProbe(provider, place, async (handle, directory) => [
      ok(name, "works"),
      await checkOwner(handle, directory, name),
      await checkAgents(handle, situation, name, signal),
    ]);
    return [...inside, ...(await checkCheckouts(provider, situation))];
  });
};

/**
 * Findings about a missing image with the default name: the command that builds it needs a file. If there is none and another
 * sandbox was chosen, the image is not needed.
 */
const ownImageFindings = async (
  finding: Finding,
  engine: "docker" | "podman",
  { imageName = "", sandbox, repository }: Situation,
): Promise<readonly Finding[]> => {
  if (finding.state !== "failed" || repository === undefined) return [finding];
  const { configDirectory: contextDirectory } = repository;
  const file = findBuildFile(engine, contextDirectory);
  try {
    await checkBuildFile({ engine, imageName, file, contextDirectory });
    return [finding];
  } catch (error) {
    if (!(error instanceof BuildContextError)) throw error;
    return sandbox === undefined || sandbox === engine ? [{ ...finding, fix: error.message }] : [];
  }
};

/** Checks the runtime of a local provider. */
const checkRuntime = async (
  { name, doctor }: ExaminedProvider,
  provider: SandboxProvider,
  { cwd }: Situation,
): Promise<Finding> => {
  if (doctor.version !== undefined) return ok(name, await doctor.version());
  await preflight(provider, { repositoryPath: cwd });
  return ok(name, "works");
};

/**
 * Examines a sandbox on this machine as far as possible: the runtime, the image, and in a real sandbox the owner of its
 * files and the agents that it has. The first finding is about the runtime.
 */
export const examineLocal = async (
  description: ExaminedProvider,
  situation: Situation,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> => {
  const { name, imageEngine } = description;
  const { imageName } = situation;
  const hasImages = imageEngine !== undefined;
  const settings = hasImages && imageName !== undefined ? { imageName } : {};
  const provider = await description.create(settings, { network: false });
  const fix = tryByHand(description);
  const runtime = await attempt(name, fix, async () => [
    await checkRuntime(description, provider, situation),
  ]);
  if (runtime.some(({ state }) => state !== "ok")) return runtime;
  const working = [...runtime, ...(await checkCheckouts(provider, situation))];
  if (hasImages && imageName === undefined) return working;

  const { repositoryPath } = placeOf(situation, signal);
  const imageTitle = `image ${imageName} (${name})`;
  const looked = await attempt(imageTitle, fix, async () => {
    if (!hasImages) return [];
    await preflight(provider, { repositoryPath });
    return [ok(imageTitle, "exists")];
  });
  if (looked.some(({ state }) => state !== "ok")) {
    const own = async (finding: Finding) =>
      imageEngine === undefined ? [finding] : ownImageFindings(finding, imageEngine, situation);
    const image = situation.imageIsOwn ? (await Promise.all(looked.map(own))).flat() : looked;
    return [...working, ...image];
  }
  if (provider.type !== "bind-mount") return [...working, ...looked];

  const inside = await attempt(name, fix, () =>
    withProbe(provider, { repositoryPath, signal }, async (handle, directory) => [
      await checkOwner(handle, directory, name),
      await checkAgents(handle, situation, name, signal),
      ...(await checkBacklogProgram(handle, situation, name)),
    ]),
  );
  return [...working, ...looked, ...inside];
};
