import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { runAtBoundary } from "../boundary/boundary.ts";
import { ProjectConfigError } from "../errors/commandErrors.ts";
import { InvalidOptionsError } from "../errors.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { type ChoiceFlags, choose } from "../project/choices.ts";
import { projectConfigPath, readProjectConfig } from "../project/config.ts";
import { defaultImage } from "../sandboxes/containers/arguments.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { type ExaminedChoices, examineChoices } from "./choices.ts";
import { type Finding, failed, isForeseen } from "./finding.ts";

/** The examined repository and settings. If no agent or sandbox was chosen, any will do. */
export interface Situation extends ExaminedChoices {
  readonly cwd: string;
  /** The image has the default name for this repository. */
  readonly imageIsOwn: boolean;
  readonly repository: Repository | undefined;
  /** Why there is no repository. */
  readonly problem: Error | undefined;
}

/** A missing directory is an error of the command line, not a finding. */
const tryTo = async <Value>(work: () => Value | Promise<Value>): Promise<Value | Error> => {
  try {
    return await work();
  } catch (error) {
    if (isForeseen(error) && !(error instanceof InvalidOptionsError)) return error;
    throw error;
  }
};

const TITLE = "config file";

const brokenConfig = (error: Error, { configDirectory }: Repository): Finding => {
  const path = projectConfigPath(configDirectory);
  return error instanceof ProjectConfigError
    ? failed(TITLE, error.problem, `Fix ${path}, or remove it.`)
    : failed(TITLE, error.message, `Make it readable for you: sudo chown "$USER" ${shellQuote(path)}`);
};

/** Finds the repository and the settings: those of `flags`, or else those of the project config. */
export const findSituation = async (flags: ChoiceFlags & { readonly cwd?: string }): Promise<Situation> => {
  const cwd = resolve(flags.cwd ?? ".");
  const found = await tryTo(() => runAtBoundary(openRepository(cwd)));
  const repository = found instanceof Error ? undefined : found;
  const read = await tryTo(() => (repository ? readProjectConfig(repository.configDirectory) : {}));
  const choices = examineChoices(choose(flags, read instanceof Error ? {} : read));
  const ownImage = repository && defaultImage(repository.topLevel);
  const imageName = choices.imageName ?? ownImage;
  return {
    cwd: realpathSync(cwd),
    repository,
    problem: found instanceof Error ? found : undefined,
    ...choices,
    imageIsOwn: imageName === ownImage,
    imageName,
    findings: [
      ...(repository && read instanceof Error ? [brokenConfig(read, repository)] : []),
      ...choices.findings,
    ],
  };
};
