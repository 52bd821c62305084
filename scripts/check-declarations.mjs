// No published type may mention Effect: it is an implementation detail, and users do not have it installed.
import { fileURLToPath } from "node:url";
import { reachableDeclarations } from "./declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const offenders = [...reachableDeclarations(root)].flatMap(([file, packages]) =>
  packages
    .filter((name) => !name.startsWith("node:"))
    .map((name) => `${file.slice(root.length + 1)} imports ${name}`),
);
if (offenders.length > 0) {
  console.error(
    `Published types must import nothing but node's own:\n${offenders.map((line) => `  ${line}`).join("\n")}`,
  );
  process.exit(1);
}
console.log("published types: free of other packages");
