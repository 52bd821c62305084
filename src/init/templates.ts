import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Template {
  readonly title: string;
  /** Whether its prompts ask the backlog manager for tasks. */
  readonly hasTasks: boolean;
}

/** Each is a directory below `templates/`, and shares nothing with the others. */
export const templates = {
  blank: { title: "one run with a prompt of your own", hasTasks: false },
  "simple-loop": { title: "one task after the other, until none is left", hasTasks: true },
  "sequential-reviewer": { title: "one task on a branch, then a review of it", hasTasks: true },
  "parallel-planner": { title: "plan, do several tasks side by side, merge", hasTasks: true },
  "parallel-planner-with-review": {
    title: "the same, with a review of each branch",
    hasTasks: true,
  },
} as const satisfies Readonly<Record<string, Template>>;

export type TemplateName = keyof typeof templates;

/** The program of a scaffold. It is not valid TypeScript until its arguments are filled in, hence the suffix. */
const MAIN = "main.ts.template";
const IMAGE = "Dockerfile";

/** Beside the package's `dist/` or `src/`, wherever this module is in there. */
const templatesDirectory = (from: string = import.meta.dirname): string => {
  const found = join(from, "templates");
  if (existsSync(join(found, IMAGE))) return found;
  if (dirname(from) === from) throw new Error("The package is not complete: it has no templates/.");
  return templatesDirectory(dirname(from));
};

export interface TemplateTexts {
  readonly main: string;
  /** By file name. */
  readonly prompts: Readonly<Record<string, string>>;
  /** The template of a Dockerfile or Containerfile. */
  readonly image: string;
}

/** A file beside the templates. */
export const readTemplateFile = (name: string): string =>
  readFileSync(join(templatesDirectory(), name), "utf8");

export const readTemplate = (name: TemplateName): TemplateTexts => {
  const directory = templatesDirectory();
  const read = (...path: string[]): string => readFileSync(join(directory, ...path), "utf8");
  const prompts = readdirSync(join(directory, name)).filter((file) => file.endsWith(".md"));
  return {
    main: read(name, MAIN),
    prompts: Object.fromEntries(prompts.map((file) => [file, read(name, file)])),
    image: read(IMAGE),
  };
};
