import { existsSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { BuildContextError, ImageBuildError } from "../errors/commandErrors.ts";
import { CONFIG_DIRECTORY_NAME } from "../options/configDirectory.ts";
import { hostEnvironment } from "../process/hostPrograms.ts";
import { sandduneCommand, sandduneWords } from "../process/ownCommand/sandduneCommand.ts";
import { projectConfigPath } from "../project/config.ts";
import { callEngine, engineClients, unavailability } from "../sandboxes/containers/engine.ts";
import { openBuildContext } from "./buildContext.ts";
import { BuildSteps } from "./buildSteps.ts";
import { IMAGE_LABEL } from "./images.ts";
import { stopBuildOn } from "./stopBuild.ts";

export interface BuildImageOptions {
  readonly engine: "docker" | "podman";
  readonly imageName: string;
  /** The Dockerfile, or Containerfile: an absolute path. */
  readonly file: string;
  /** The build context: an absolute path. Private files of a config directory are left out. */
  readonly contextDirectory: string;
  /** Each `KEY=value`, or `KEY` for the value of that name in the environment. */
  readonly buildArgs?: readonly string[];
  /** The network of the build's commands; the engine's default when it is left out. */
  readonly network?: string | undefined;
  /** Each step as it begins, e.g. `3/9 RUN npm install`. */
  readonly onStep?: (step: string) => void;
  /** Each line that the engine prints. */
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** How much of the output an error shows. */
const KEPT_LINES = 40;

/** Without colours; of a line that was overwritten, as progress is, only the last text. */
const lastState = (line: string): string => stripVTControlCharacters(line).trimEnd().split("\r").at(-1) ?? "";

const isDefaultFile = ({ file, contextDirectory }: BuildImageOptions): boolean =>
  basename(contextDirectory) === CONFIG_DIRECTORY_NAME &&
  dirname(file) === contextDirectory &&
  /^(Docker|Container)file$/.test(basename(file));

const fileFlag = (engine: BuildImageOptions["engine"]): string =>
  engine === "docker" ? "--dockerfile" : "--containerfile";

/** How to get a build file. If there is a project config, init has run, and would refuse to run again. */
const fileHint = (options: BuildImageOptions): string => {
  const { engine, file, contextDirectory } = options;
  const nameOne = sandduneCommand(engine, "build-image", fileFlag(engine), "FILE");
  if (!isDefaultFile(options)) return `Name another one: ${nameOne}`;
  return existsSync(projectConfigPath(contextDirectory))
    ? `init has set this repository up already, and adds nothing to it. Write one to ${file}: FROM an image with sh, env and grep, to which it adds git, gh and the agent's program. Or name yours: ${nameOne}`
    : `Make one with: ${sandduneCommand("init")} – or name yours: ${nameOne}`;
};

/** The engine quotes lines that it does not understand: a link in the config directory could lead to secrets. */
const refuseLink = async (options: BuildImageOptions): Promise<void> => {
  if (!isDefaultFile(options) || (await lstat(options.file)).isFile()) return;
  const hint = `Look at what has put it there (git log -- ${options.file}), then remove it.`;
  throw new BuildContextError(options.file, "it is not a regular file", hint);
};

const readBuildFile = async (options: BuildImageOptions): Promise<string> => {
  try {
    await refuseLink(options);
    return await readFile(options.file, "utf8");
  } catch (error) {
    if (error instanceof BuildContextError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new BuildContextError(
      options.file,
      code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`,
      fileHint(options),
    );
  }
};

/** Checks that there is a build file. Rejects with the `BuildContextError` of the build. */
export const checkBuildFile = async (options: BuildImageOptions): Promise<void> => {
  await readBuildFile(options);
};

/** The owner of the home directory in the image: the host's user, unless that is root. */
const hostIds = (text: string): string[] => {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0 || !/^\s*ARG\s+AGENT_UID\b/m.test(text)) return [];
  return [`AGENT_UID=${uid}`, `AGENT_GID=${process.getgid?.() ?? uid}`];
};

/** The command for the same build, from any directory. Without values of build arguments, which may be secrets. */
const retryCommand = (options: BuildImageOptions): string[] => {
  const { engine, imageName, file, contextDirectory, buildArgs = [], network } = options;
  const isDefault = isDefaultFile(options);
  const directory = isDefault ? dirname(contextDirectory) : contextDirectory;
  return [
    ...sandduneWords(engine, "build-image", "--image-name", imageName),
    ...(directory === process.cwd() ? [] : ["--cwd", directory]),
    ...(isDefault ? [] : [fileFlag(engine), file]),
    ...buildArgs.flatMap((argument) => ["--build-arg", argument.replace(/=.*$/s, "=…")]),
    ...(network === undefined ? [] : ["--network", network]),
    "--verbose",
  ];
};

/**
 * Builds an image with the engine's own builder. Rejects with an `ImageBuildError` that names the failing step, with a
 * `BuildContextError`, with a `SandboxUnavailableError` where the engine cannot be used, or with `signal.reason`.
 */
export const buildImage = async (options: BuildImageOptions): Promise<void> => {
  const { engine, imageName, file, signal } = options;
  const client = engineClients[engine];
  // The last value of a name counts.
  const buildArgs = [...hostIds(await readBuildFile(options)), ...(options.buildArgs ?? [])];
  await using context = await openBuildContext(engine, options.contextDirectory, file);
  const args = [
    ...["build", "--force-rm", "--tag", imageName, "--file", file],
    ...["--label", `${IMAGE_LABEL}=${imageName}`],
    ...buildArgs.flatMap((argument) => ["--build-arg", argument]),
    ...(options.network === undefined ? [] : ["--network", options.network]),
    context.directory,
  ];

  const steps = new BuildSteps();
  const lastLines: string[] = [];
  const onLine = (printed: string) => {
    const line = lastState(printed);
    const step = steps.read(line);
    if (step !== undefined) {
      lastLines.length = 0;
      options.onStep?.(step);
    }
    if (lastLines.push(line) > KEPT_LINES) lastLines.shift();
    options.onLine?.(line);
  };
  using stop = stopBuildOn(signal);
  const { exitCode } = await callEngine(client, args, {
    // BuildKit would draw as on a terminal; the classic builder ignores the variable.
    env: { ...hostEnvironment(), BUILDKIT_PROGRESS: "plain" },
    onStart: stop.onStart,
    onStdoutLine: onLine,
    onStderrLine: onLine,
    signal: stop.signal,
  });
  signal?.throwIfAborted();
  if (exitCode === 0) return;
  const output = lastLines.join("\n");
  const isUnavailable = steps.failed === undefined && unavailability(client, imageName, output);
  throw isUnavailable || new ImageBuildError(engine, imageName, steps.failed, output, retryCommand(options));
};
