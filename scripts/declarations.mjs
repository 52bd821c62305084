// The published types: what can be reached from the package's entry points, and nothing of what is inside.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const entryDeclarations = (root) =>
  Object.values(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports)
    .filter((target) => typeof target === "object")
    .map(({ types }) => resolve(root, types));

const importsOf = (file) =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map(
    ([, specifier]) => specifier,
  );

const declarationOf = (from, specifier) => resolve(dirname(from), specifier.replace(/\.(ts|js)$/, ".d.ts"));

/** Every declaration file that a user's compiler would read, with the packages that it imports. */
export const reachableDeclarations = (root) => {
  const reached = new Map();
  const visit = (file) => {
    if (reached.has(file)) return;
    const specifiers = importsOf(file);
    reached.set(
      file,
      specifiers.filter((specifier) => !specifier.startsWith(".")),
    );
    for (const specifier of specifiers) if (specifier.startsWith(".")) visit(declarationOf(file, specifier));
  };
  for (const entry of entryDeclarations(root)) visit(entry);
  return reached;
};

/** Removes the declarations that are not part of the public surface. */
export const pruneDeclarations = (root) => {
  const reached = reachableDeclarations(root);
  for (const name of readdirSync(join(root, "dist"), { recursive: true })) {
    const file = join(root, "dist", name);
    if (name.endsWith(".d.ts") && !reached.has(file) && existsSync(file)) rmSync(file);
  }
};
