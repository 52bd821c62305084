// Bundles the package: Effect and the command-line parser go inside, so that installing sanddune installs nothing else.
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { pruneDeclarations } from "./declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { exports, version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));

const entries = Object.values(exports)
  .filter((target) => typeof target === "object")
  .map(({ default: file }) => file.replace(/^\.\/dist\/(.*)\.js$/, "$1"));

rmSync(`${root}/dist`, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(
    [...entries, "cli"].map((name) => [name, `src/${name === "cli" ? "cli/main" : name}.ts`]),
  ),
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  chunkNames: "chunks/[name]-[hash]",
  minifySyntax: true,
  treeShaking: true,
  // Those of whoever uses sanddune: optional, and never two of them.
  external: ["vue", "@vercel/sandbox", "e2b", "modal"],
  define: { SANDDUNE_VERSION: JSON.stringify(version) },
  legalComments: "linked",
  metafile: true,
  logLevel: "warning",
});
chmodSync(`${root}/dist/cli.js`, 0o755);
execFileSync("node", [`${root}/node_modules/typescript/bin/tsc`, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
pruneDeclarations(root);

if (!process.argv.includes("--quiet")) {
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  console.log(
    `dist/: ${Object.keys(metafile.outputs).length} files, ${Math.round(bytes / 1024)} KiB of JavaScript`,
  );
}
