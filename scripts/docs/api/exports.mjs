// The public surface, read by the compiler that emits its declarations.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { API, SymbolFlags } from "typescript/unstable/sync";
import { describe } from "./describe.mjs";

/** The entry points of the package, by the path that users import: the file of their declarations. */
const entryPoints = (root) => {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([, target]) => typeof target === "object")
    .map(([path, { types }]) => [join(name, path), join(root, types)]);
};

/** A type that users know by a name of the same entry point is shown by that name. */
const withOwnNames = (names) =>
  names.map((each) => {
    const own = names.filter(({ aliasOf, paths: [path] }) => aliasOf !== undefined && path === each.paths[0]);
    const renamed = (text) =>
      own.reduce(
        (result, { aliasOf, name }) => result.replaceAll(new RegExp(`\\b${aliasOf}\\b`, "g"), name),
        text,
      );
    return { ...each, code: each.code.map(renamed) };
  });

/** Every exported name with what is written about it. One that two entry points export is one name with two paths. */
export const exportedNames = (root) => {
  const api = new API({ cwd: root });
  try {
    const config = join(root, "scripts/docs/api/tsconfig.json");
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    const { checker, program } = project;
    const names = new Map();
    for (const [path, file] of entryPoints(root)) {
      for (const exported of checker.getExportsOfModule(
        checker.getSymbolAtLocation(program.getSourceFile(file)),
      )) {
        const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
        const known = names.get(symbol.id);
        if (known === undefined)
          names.set(symbol.id, { paths: [path], ...describe(checker, symbol, exported.name) });
        else known.paths.push(path);
      }
    }
    return withOwnNames([...names.values()]);
  } finally {
    api.close();
  }
};
