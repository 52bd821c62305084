import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import * as sanddune from "../../src/index.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const ROOT = join(import.meta.dirname, "../..");
const SCRIPTS = join(ROOT, "scripts/docs/api");

const headings = readdirSync(join(ROOT, "docs/api")).flatMap((page) =>
  [...readFileSync(join(ROOT, "docs/api", page), "utf8").matchAll(/^### (\w+)(?:\(\))?$/gm)].map(
    ([, name = ""]) => name,
  ),
);

it("has every name that the main entry point exports, and has it once", () => {
  const exported = readFileSync(join(ROOT, "src/index.ts"), "utf8").replace(/export \* .*/g, "");
  const types = [...exported.matchAll(/[{,]\s*(?:type )?(\w+)(?=,|\s*})/g)].map(([, name = ""]) => name);
  expect(types).toEqual(expect.arrayContaining(["run", "RunOptions", "TaskOutcome"]));
  const names = [...new Set([...types, ...Object.keys(sanddune)])];
  expect(names.filter((name) => !headings.includes(name))).toEqual([]);
  expect(headings.filter((name, index) => headings.indexOf(name) !== index)).toEqual([]);
});

/** A built package of one declaration file. */
const packageOf = (declarations: string): string => {
  const root = temporaryDirectory();
  const files = {
    "package.json": JSON.stringify({
      name: "@missingstudio/sanddune",
      exports: { ".": { types: "./dist/index.d.ts" } },
    }),
    "dist/index.d.ts": declarations,
    "scripts/docs/api/tsconfig.json": JSON.stringify({ include: ["../../../dist"] }),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
};

let problems: (declarations: string) => string[];
let pages: (declarations: string) => Map<string, string>;

beforeAll(async () => {
  const [{ exportedNames }, { problemsOf }, { pagesOf }, { renderPages }] = await Promise.all(
    ["exports", "check", "pages", "render"].map((name) => import(join(SCRIPTS, `${name}.mjs`))),
  );
  problems = (declarations) => {
    const root = packageOf(declarations);
    return problemsOf(root, exportedNames(root));
  };
  pages = (declarations) => new Map(renderPages(pagesOf(exportedNames(packageOf(declarations)))));
});

it("is refused for an exported name or an option without a comment, and for a type that cannot be imported", () => {
  const declarations = `
interface Hidden { readonly a: string }
/** Says what to do. */
export interface DoOptions {
  /** How often. */
  readonly times?: number;
  readonly silent?: boolean;
}
export declare const act: (options: DoOptions) => Hidden;
export {};
`;
  expect(problems(declarations)).toEqual([
    "DoOptions.silent (index.ts) has no doc comment",
    "act (index.ts) has no doc comment",
    "act mentions Hidden, which is not exported",
  ]);
  expect(problems("/** Nothing to do. */\nexport declare const rest: () => void;\n")).toEqual([]);
});

it("shows options with what they inherit, links, and examples that are whole programs", () => {
  const text = pages(`
interface Base {
  /** From the base. */
  readonly base: string;
}
/** Says what to do. */
export interface DoOptions extends Base {
  /** One | two. */
  readonly limits?: {
    /** In seconds. */
    readonly time?: number;
  };
}
/**
 * Acts.
 *
 * @example
 * act({ base: "a" });
 */
export declare const act: (options: DoOptions) => void;
`).get("api/entry-points.md");
  expect(text).toContain("See [`DoOptions`](#dooptions).");
  expect(text).toContain("- `base: string`: From the base.");
  expect(text).toContain("- `limits?: object`: One | two.\n- `limits.time?: number`: In seconds.");
  expect(text).toContain('```ts\nimport { act } from "@missingstudio/sanddune";\n\nact({ base: "a" });\n```');
});
