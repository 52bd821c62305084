// Bundles the package: Effect and the command-line parser go inside, so that installing sanddune installs nothing else.
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { pruneDeclarations } from "./declarations.mjs";
import { joinChunks } from "./joinChunks.mjs";
import { esbuildProgramText } from "./programText.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { exports, version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));

/** Brought into sandboxes, where nothing else of the package is: each of these modules needs no other. */
const ALONE = ["environment/index", "environment/tool", "environment/mcpProgram"];

const entries = Object.values(exports)
  .filter((target) => typeof target === "object")
  .map(({ default: file }) => file.replace(/^\.\/dist\/(.*)\.js$/, "$1"))
  .filter((name) => !ALONE.includes(name));

const bundle = (names, options) =>
  build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      names.map((name) => [name, `src/${name === "cli" ? "cli/main" : name}.ts`]),
    ),
    outdir: "dist",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    minifySyntax: true,
    treeShaking: true,
    // Optional peer dependencies: a program must not load a second copy.
    external: ["vue", "@vercel/sandbox", "e2b", "modal"],
    plugins: [esbuildProgramText],
    define: { SANDDUNE_VERSION: JSON.stringify(version) },
    legalComments: "linked",
    metafile: true,
    logLevel: "warning",
    ...options,
  });

rmSync(`${root}/dist`, { recursive: true, force: true });
const shared = await bundle([...entries, "cli"], { splitting: true, chunkNames: "chunks/[name]-[hash]" });
const alone = await bundle(ALONE, {});
const joined = await joinChunks(
  root,
  shared.metafile.outputs,
  { cli: ["src/cli/commandLine.ts"], index: ["src/index.ts"] },
  {
    sandboxes: entries.filter((name) => name.startsWith("sandboxes/")).map((name) => `src/${name}.ts`),
    // Runs in a browser.
    site: ["src/vitepress/index.ts"],
  },
);
chmodSync(`${root}/dist/cli.js`, 0o755);
execFileSync("node", [`${root}/node_modules/typescript/bin/tsc`, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
pruneDeclarations(root);

if (!process.argv.includes("--quiet")) {
  const outputs = [...joined, ...Object.values(alone.metafile.outputs)];
  const bytes = outputs.reduce((sum, output) => sum + output.bytes, 0);
  console.log(`dist/: ${outputs.length} files, ${Math.round(bytes / 1024)} KiB of JavaScript`);
}
