import { join, resolve } from "node:path";
import { buildImage } from "../../images/buildImage.ts";
import type { InitAnswers } from "../../init/answers.ts";
import { nextSteps } from "../../init/nextSteps.ts";
import { findInitProject, type InitProject } from "../../init/project.ts";
import { sandboxChoices } from "../../init/sandboxChoices.ts";
import { scaffoldFor } from "../../init/scaffold.ts";
import { checkPlace, writeScaffold } from "../../init/writeScaffold.ts";
import { defaultImage } from "../../sandboxes/containers/arguments.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { showBuildProgress } from "../image/progress.ts";
import { tell } from "../shared/output.ts";
import { reportError } from "../shared/reportError.ts";
import { stopOnSignals } from "../shared/stopSignals.ts";
import { initAnswers } from "./answers.ts";
import type { InitFlags } from "./flags.ts";
import { reportScaffold } from "./report.ts";
import { withoutAsking } from "./unasked.ts";

interface Choices {
  readonly answers: InitAnswers;
  readonly buildsImage: boolean;
}

const STOPPED = {
  subject: "init",
  kept: "The files in .sanddune/ are complete.",
  tidying: "stopping",
};

/** All answers, before init creates anything. */
const findChoices = async (flags: InitFlags, { directory }: InitProject): Promise<Choices> => {
  const canAsk = process.stdin.isTTY && process.stdout.isTTY && !flags.yes && !flags.json;
  if (canAsk) {
    const { askAtTerminal, askForYesAtTerminal } = await import("./questions.ts");
    const answers = await initAnswers(flags, askAtTerminal, defaultImage(directory));
    const { imageName } = answers;
    const buildsImage =
      flags.build &&
      imageName !== undefined &&
      (await askForYesAtTerminal(`Build the image ${imageName} now? This takes a few minutes.`));
    return { answers, buildsImage };
  }
  const { ask, check } = withoutAsking(flags.yes ?? false);
  const answers = await initAnswers(flags, ask, defaultImage(directory));
  check();
  return { answers, buildsImage: flags.build && answers.imageName !== undefined };
};

/** Resolves with the error of the build: the files exist, and are reported even if the image is not built. */
const build = async (
  { configDirectory }: InitProject,
  answers: InitAnswers,
  signal: AbortSignal,
): Promise<unknown> => {
  const { sandbox, imageName } = answers;
  if (sandbox === "bubblewrap" || imageName === undefined) return undefined;
  const file = join(configDirectory, sandboxChoices[sandbox].imageFile);
  await tell(`Building ${imageName} from ${file} with ${sandbox} …`);
  try {
    using progress = showBuildProgress(imageName, { verbose: false });
    await buildImage({
      engine: sandbox,
      imageName,
      file,
      contextDirectory: configDirectory,
      ...progress,
      signal,
    });
    return undefined;
  } catch (error) {
    return error;
  }
};

/** Creates the scaffold, and builds its image. */
export const performInit = async (flags: InitFlags): Promise<void> => {
  const cwd = resolve(flags.cwd ?? ".");
  const project = await findInitProject(cwd);
  checkPlace(project.configDirectory);
  const { answers, buildsImage } = await findChoices(flags, project);
  const scaffold = scaffoldFor(answers, project);

  // From here on a signal must not leave half a scaffold.
  using stop = stopOnSignals(STOPPED);
  writeScaffold(project.configDirectory, scaffold);
  const problem = buildsImage ? await build(project, answers, stop.signal) : undefined;
  const isBuilt = buildsImage && problem === undefined;
  const next = nextSteps({ project, answers, scaffold, isBuilt, cwd, nodeVersion: process.versions.node });
  await reportScaffold(
    {
      directory: project.configDirectory,
      files: Object.keys(scaffold).sort(),
      imageName: answers.imageName,
      built: isBuilt,
      problem: problem === undefined ? undefined : messageOf(problem),
      next,
    },
    flags,
  );
  if (problem !== undefined) process.exitCode = await reportError(problem, { json: false, isShown: false });
};
