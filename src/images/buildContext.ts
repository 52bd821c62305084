import { cp, lstat, mkdtemp, readFile, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { BuildContextError } from "../errors/commandErrors.ts";
import { hostFileErrorAt } from "../errors/hostFile.ts";
import { CONFIG_DIRECTORY_NAME, checkConfigDirectory, PRIVATE_PARTS } from "../options/configDirectory.ts";
import { removeDirectory } from "../process/removeDirectory.ts";

/** The ignore files of a build context; the first existing one counts. */
const IGNORE_FILES = {
  docker: [".dockerignore"],
  podman: [".containerignore", ".dockerignore"],
} as const;

/** A build file may have its own ignore file, which some builders use instead. */
const OWN_IGNORE_FILES = [".dockerignore", ".containerignore"] as const;

export interface BuildContext extends AsyncDisposable {
  readonly directory: string;
}

const isPrivate = (name: string): boolean =>
  PRIVATE_PARTS.some((part) => part === name) || name.startsWith(".env.");

/** A copy of the config directory without secrets and files of runs. An ignore file could be deleted. */
const publicCopy = async (configDirectory: string): Promise<BuildContext> => {
  const directory = await mkdtemp(join(await realpath(tmpdir()), "sanddune-build-"));
  const remove = () => removeDirectory(directory);
  try {
    await cp(configDirectory, directory, {
      recursive: true,
      verbatimSymlinks: true,
      filter: async (source) => {
        if (source === configDirectory) return true;
        if (isPrivate(basename(source)) && source === join(configDirectory, basename(source))) return false;
        const status = await lstat(source);
        return status.isFile() || status.isDirectory() || status.isSymbolicLink();
      },
    });
  } catch (error) {
    await remove();
    throw hostFileErrorAt(directory)(error);
  }
  return { directory, [Symbol.asyncDispose]: remove };
};

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const ignoreLines = async (path: string): Promise<string[] | undefined> => {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text
    ?.replace(/^\ufeff/, "")
    .split("\n")
    .map((line) =>
      line
        // Of what else JavaScript takes for blanks, the engines do not know all.
        .replace(/^[ \t\r]+|[ \t\r]+$/g, "")
        .replace(/^(!?)\/+/, "$1")
        .replace(/\/+$/, ""),
    );
};

/** The lines of each ignore file that the engine may use. */
const ignoreFiles = async (
  engine: "docker" | "podman",
  directory: string,
  file: string,
): Promise<string[][]> => {
  const ofContext = await Promise.all(IGNORE_FILES[engine].map((name) => ignoreLines(join(directory, name))));
  const ofFile = await Promise.all(OWN_IGNORE_FILES.map((suffix) => ignoreLines(file + suffix)));
  return [
    ofContext.find((lines) => lines !== undefined) ?? [],
    ...ofFile.filter((lines) => lines !== undefined),
  ];
};

/** A line that re-includes files is harmless only if it plainly means other files. */
const mayReadmit = (line: string): boolean => {
  if (!line.startsWith("!")) return false;
  const path = line.slice(1);
  const [first = ""] = path.split("/");
  const isPlain = /^[A-Za-z0-9_./-]+$/.test(path) && !path.split("/").some((part) => /^\.{0,2}$/.test(part));
  return !isPlain || first.toLowerCase() === CONFIG_DIRECTORY_NAME;
};

/** Only literal lines count: patterns are not matched here. */
const excludes = (lines: readonly string[], path: string): boolean => {
  const names = [CONFIG_DIRECTORY_NAME, `${CONFIG_DIRECTORY_NAME}/*`, `${CONFIG_DIRECTORY_NAME}/**`, path];
  const patterns = ["*", "**", `**/${basename(path)}`, ...names, ...names.map((name) => `**/${name}`)];
  return lines.some((line) => patterns.includes(line)) && !lines.some(mayReadmit);
};

/** A user's directory is too large to copy, so its ignore file has to exclude private files. */
const checkPrivateParts = async (
  engine: "docker" | "podman",
  directory: string,
  file: string,
): Promise<void> => {
  const files = await ignoreFiles(engine, directory, file);
  for (const part of PRIVATE_PARTS) {
    const path = `${CONFIG_DIRECTORY_NAME}/${part}`;
    const isKeptOut = files.every((lines) => excludes(lines, path));
    if (!isKeptOut && (await exists(join(directory, path)))) {
      throw new BuildContextError(
        directory,
        `${path} is in it, and could get into the image`,
        `Keep it out: echo ${CONFIG_DIRECTORY_NAME} >> ${join(directory, IGNORE_FILES[engine][0])}`,
      );
    }
  }
};

/**
 * The build context: never the env file, nor the files of runs. Throws a `BuildContextError`, or a
 * `ConfigDirectoryError` for a config directory that leads elsewhere.
 */
export const openBuildContext = async (
  engine: "docker" | "podman",
  directory: string,
  /** The Dockerfile, or Containerfile. */
  file: string,
): Promise<BuildContext> => {
  if (basename(directory) === CONFIG_DIRECTORY_NAME) {
    checkConfigDirectory(directory);
    return publicCopy(directory);
  }
  const status = await stat(directory).catch(() => undefined);
  if (!status?.isDirectory()) {
    throw new BuildContextError(directory, "there is no such directory", "Name another one: --cwd DIR");
  }
  await checkPrivateParts(engine, directory, file);
  return { directory, [Symbol.asyncDispose]: async () => {} };
};
