import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { atHostFile } from "../../errors/hostFile.ts";
import { InvalidOptionsError } from "../../errors.ts";
import { checkValue, text } from "../../options/checks/checks.ts";

/** A Dockerfile for services that build without one: its base image, and its further instructions. */
export interface DockerfileImage {
  readonly imageName: string;
  readonly dockerfileCommands: readonly string[];
}

/** One instruction each, without comments; a backslash at the end of a line continues the instruction. */
const instructionsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/^\s*#.*\n?/gm, "")
    .replaceAll(/\\\r?\n\s*/g, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

const nameOf = (instruction: string): string => instruction.split(/\s/, 1)[0]?.toUpperCase() ?? "";

/** `${NAME}` and `$NAME`, by the defaults of the file. */
const withDefaults = (text: string, defaults: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (reference, braced, plain) => {
    const value = defaults.get(braced ?? plain);
    return value ?? reference;
  });

/** Flags such as `--platform` and the name of the stage are not part of the image. */
const FROM = /^FROM\s+(?:--\S+\s+)*(\S+)/i;

/** The lines of a here-document are not instructions; spaces and comments in them count. */
const HEREDOC = /(?<!<)<<-?["']?[A-Za-z_]/;

const parse = (text: string, refuse: (problem: string) => never): DockerfileImage => {
  const instructions = instructionsOf(text);
  const stages = instructions.filter((instruction) => nameOf(instruction) === "FROM");
  if (stages.length !== 1) refuse(`has ${stages.length} stages (FROM), but must have one`);
  const start = instructions.findIndex((instruction) => nameOf(instruction) === "FROM");
  const defaults = new Map(
    instructions.slice(0, start).flatMap((instruction) => {
      const [, name, , value] = /^ARG\s+(\w+)=(["']?)(\S+)\2$/i.exec(instruction) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
  const dockerfileCommands = instructions.slice(start + 1);
  const heredoc = dockerfileCommands.find((instruction) => HEREDOC.test(instruction));
  if (heredoc !== undefined) refuse(`has a here-document (${JSON.stringify(heredoc)}): put it into one line`);
  const copied = dockerfileCommands.find((instruction) => ["COPY", "ADD"].includes(nameOf(instruction)));
  if (copied !== undefined) refuse(`has ${JSON.stringify(copied)}, but the service gets no files`);
  const [, image = ""] = FROM.exec(instructions[start] ?? "") ?? [];
  return { imageName: withDefaults(image, defaults), dockerfileCommands };
};

/**
 * Reads a Dockerfile for a service that gets no build context: `modal()` takes the result as it is, and a template of E2B is
 * made of it. Throws an `InvalidOptionsError` if the file has more than one stage, copies files, or
 * has here-documents.
 *
 * @example
 * const sandbox = modal({ ...readDockerfile(".sanddune/Dockerfile"), memory: "8g" });
 */
export const readDockerfile = (path: string): DockerfileImage => {
  checkValue("path", path, text);
  const file = resolve(path);
  const content = atHostFile(file, () => readFileSync(file, "utf8"));
  return parse(content, (problem) => {
    throw new InvalidOptionsError("path", `${file} ${problem}`);
  });
};
