// Programs that run inside sandboxes are source files like any other, in folders called `programs`. The package holds each of
// them as one text: `import program from "./programs/main.ts?text"`. Build and tests get the same text from here.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buildSync } from "esbuild";

const SUFFIX = "?text";

const bundled = (file) => {
  const { outputFiles } = buildSync({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20.19",
    minify: true,
    logLevel: "warning",
  });
  return outputFiles[0].text.trimEnd();
};

const programText = (file) => (file.endsWith(".ts") ? bundled(file) : readFileSync(file, "utf8"));

export const esbuildProgramText = {
  name: "program-text",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /\?text$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.slice(0, -SUFFIX.length)),
      namespace: "program-text",
    }));
    onLoad({ filter: /./, namespace: "program-text" }, ({ path }) => ({
      contents: programText(path),
      loader: "text",
    }));
  },
};

export const viteProgramText = {
  name: "program-text",
  enforce: "pre",
  load: (id) =>
    id.endsWith(SUFFIX)
      ? `export default ${JSON.stringify(programText(id.slice(0, -SUFFIX.length)))};`
      : undefined,
};
