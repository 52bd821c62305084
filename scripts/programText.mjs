// Programs that run inside sandboxes are source files like any other, in folders called `programs`. The package holds each of
// them as one text: `import program from "./programs/main.ts?text"`. Build and tests get the same text from here.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buildSync } from "esbuild";

const SUFFIX = "?text";

const settingsFor = (file) => ({
  entryPoints: [file],
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
  target: "node20.19",
  minify: true,
  logLevel: "warning",
});

const isSource = (file) => file.endsWith(".ts");
const textOf = ({ outputFiles }) => outputFiles[0].text.trimEnd();

export const esbuildProgramText = {
  name: "program-text",
  setup: ({ onResolve, onLoad, esbuild }) => {
    onResolve({ filter: /\?text$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.slice(0, -SUFFIX.length)),
      namespace: "program-text",
    }));
    // By the process that bundles everything else: each call of buildSync() would start another.
    onLoad({ filter: /./, namespace: "program-text" }, async ({ path }) => ({
      contents: isSource(path) ? textOf(await esbuild.build(settingsFor(path))) : readFileSync(path, "utf8"),
      loader: "text",
    }));
  },
};

export const viteProgramText = {
  name: "program-text",
  enforce: "pre",
  load: (id) => {
    if (!id.endsWith(SUFFIX)) return undefined;
    const file = id.slice(0, -SUFFIX.length);
    const text = isSource(file) ? textOf(buildSync(settingsFor(file))) : readFileSync(file, "utf8");
    return `export default ${JSON.stringify(text)};`;
  },
};
