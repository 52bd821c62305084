import { BuildContextError } from "../errors/commandErrors.ts";
import { findBuildFile } from "../images/buildFile.ts";
import { checkBuildFile } from "../images/buildImage.ts";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { bubblewrap } from "../sandboxes/bubblewrap.ts";
import type { BindMountSandboxProvider } from "../sandboxes/contract.ts";
import { docker } from "../sandboxes/docker.ts";
import { preflight } from "../sandboxes/handle/preflight.ts";
import { podman } from "../sandboxes/podman.ts";
import { checkAgents } from "./agents.ts";
import { checkBacklogProgram } from "./backlog.ts";
import { checkDocker, checkPodman } from "./engines.ts";
import { attempt, type Finding, ok } from "./finding.ts";
import { checkOwner, withProbe } from "./probe.ts";
import type { Situation } from "./situation.ts";

interface ExaminedSandbox {
  provider(imageName: string | undefined): BindMountSandboxProvider;
  /** Whether there is such a sandbox on this machine at all. Rejects with the error that a run would meet. */
  check(provider: BindMountSandboxProvider, situation: Situation): Promise<Finding>;
  readonly hasImages: boolean;
  /** What shows people why it does not work. */
  readonly trial: string;
}

const byPreflight: ExaminedSandbox["check"] = async (provider, { cwd }) => {
  await preflight(provider, { repositoryPath: cwd });
  return ok(provider.name, "works");
};

const settings = (imageName: string | undefined) => (imageName === undefined ? {} : { imageName });

/** The sandboxes that are made on this machine. */
export const examinedSandboxes: Readonly<Record<string, ExaminedSandbox>> = {
  docker: {
    provider: (image) => docker(settings(image)),
    check: checkDocker,
    hasImages: true,
    trial: "docker info",
  },
  podman: {
    provider: (image) => podman(settings(image)),
    check: checkPodman,
    hasImages: true,
    trial: "podman info",
  },
  bubblewrap: {
    provider: () => bubblewrap(),
    check: byPreflight,
    hasImages: false,
    trial: "bwrap --ro-bind / / true",
  },
};

export const tryByHand = (name: string): string =>
  `Try it by hand: ${examinedSandboxes[name]?.trial} – then again: ${sandduneCommand("doctor")}`;

/**
 * What to do about an image whose name sanddune has made up: the command that builds it needs a file. Where that is
 * missing and another sandbox was chosen, the image is not wanted.
 */
const ownImageFindings = async (
  finding: Finding,
  engine: string,
  { imageName = "", sandbox, repository }: Situation,
): Promise<readonly Finding[]> => {
  if (finding.state !== "failed" || repository === undefined) return [finding];
  const { configDirectory: contextDirectory } = repository;
  const engineName = engine === "podman" ? "podman" : "docker";
  const file = findBuildFile(engineName, contextDirectory);
  try {
    await checkBuildFile({ engine: engineName, imageName, file, contextDirectory });
    return [finding];
  } catch (error) {
    if (!(error instanceof BuildContextError)) throw error;
    return sandbox === undefined || sandbox === engine ? [{ ...finding, fix: error.message }] : [];
  }
};

/**
 * Examines a sandbox as far as it goes: the runtime, the image, and in a real sandbox who its files belong to and which
 * agents it has. The first finding is about the runtime.
 */
export const examineSandbox = async (
  name: string,
  situation: Situation,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> => {
  const { provider: create, check, hasImages } = examinedSandboxes[name] as ExaminedSandbox;
  const { imageName, repository, cwd } = situation;
  const provider = create(imageName);
  const fix = tryByHand(name);
  const runtime = await attempt(name, fix, async () => [await check(provider, situation)]);
  if (runtime.some(({ state }) => state !== "ok") || (hasImages && imageName === undefined)) return runtime;

  const repositoryPath = repository?.topLevel ?? cwd;
  const imageTitle = `image ${imageName} (${name})`;
  const looked = await attempt(imageTitle, fix, async () => {
    if (!hasImages) return [];
    await preflight(provider, { repositoryPath });
    return [ok(imageTitle, "is there")];
  });
  if (looked.some(({ state }) => state !== "ok")) {
    const own = (finding: Finding) => ownImageFindings(finding, name, situation);
    const image = situation.imageIsOwn ? (await Promise.all(looked.map(own))).flat() : looked;
    return [...runtime, ...image];
  }

  const inside = await attempt(name, fix, () =>
    withProbe(provider, { repositoryPath, signal }, async (handle, directory) => [
      await checkOwner(handle, directory, name),
      await checkAgents(handle, situation, name, signal),
      ...(await checkBacklogProgram(handle, situation, name)),
    ]),
  );
  return [...runtime, ...looked, ...inside];
};
