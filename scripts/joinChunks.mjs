// Joins the chunks that are loaded together at a start. The bundler makes a chunk of the modules that the same entries
// need. Dozens of entries make hundreds of chunks, and to open a file takes longer than to compile what is in it.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { build } from "esbuild";

/** The bundler writes the source of each part into a comment above it. Only legal comments outlive a second bundling. */
const SOURCE_COMMENT = /^\/\/ (?=\S+\.[cm]?[jt]s$)/gm;
const CHUNK_COMMENT = /^\/\/ \S+\/chunk-\w+\.js\n/gm;
const LEGAL_SOURCE_COMMENT = /^\/\/! (?=\S+\.[cm]?[jt]s$)/gm;

const STATIC_IMPORT = /^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n/gm;

/** Outputs, and those that are loaded with them. */
const loadedWith = (outputs, paths, seen = new Set()) => {
  for (const path of paths) {
    if (seen.has(path)) continue;
    seen.add(path);
    const imports = outputs[path].imports.filter(
      ({ kind, external }) => kind === "import-statement" && !external,
    );
    loadedWith(
      outputs,
      imports.map(({ path: imported }) => imported),
      seen,
    );
  }
  return seen;
};

/**
 * Chunks by the starts that load them, e.g. `cli-index`. A chunk's imports are loaded by the same starts at least, so
 * that no two groups import each other.
 */
const groupsOf = (outputs, starts, others) => {
  const isEntryOf = (sources) => (path) => sources.includes(outputs[path].entryPoint);
  const loaded = Object.entries({ ...starts, ...others }).map(([name, sources]) => [
    name,
    loadedWith(outputs, Object.keys(outputs).filter(isEntryOf(sources))),
  ]);
  const groups = new Map();
  for (const [path, { entryPoint, inputs }] of Object.entries(outputs)) {
    const names = loaded.filter(([, paths]) => paths.has(path)).map(([name]) => name);
    // The chunk without sources has the bundler's own functions. A second bundling would wrap its `require` again.
    const isSource = entryPoint === undefined && Object.keys(inputs).length > 0;
    if (!isSource || !names.some((name) => name in starts)) continue;
    const group = names.join("-");
    groups.set(group, [...(groups.get(group) ?? []), path]);
  }
  return groups;
};

/** Two chunks may use one name for different things. */
const uniqueName = (name, index) => `${name}_${index}`;

const joinGroup = (root, outputs, group, paths) => {
  const directory = dirname(paths[0]);
  const exports = paths.flatMap((path, index) => {
    const names = outputs[path].exports.map((name) => `${name} as ${uniqueName(name, index)}`);
    const chunk = JSON.stringify(`./${relative(directory, path)}`);
    return [`import ${chunk};`, `export { ${names.join(", ")} } from ${chunk};`];
  });
  const members = {
    name: "members",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind }) => {
        const output = join(directory, path);
        const isMember = kind === "import-statement" && paths.includes(output);
        return isMember ? { path: join(root, output) } : { path, external: true };
      });
      onLoad({ filter: /\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, "utf8").replace(SOURCE_COMMENT, "//! "),
      }));
    },
  };
  return build({
    absWorkingDir: root,
    stdin: { contents: exports.join("\n"), resolveDir: root, sourcefile: group },
    outfile: join(directory, `${group}.js`),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "esnext",
    minifySyntax: true,
    treeShaking: false,
    legalComments: "inline",
    plugins: [members],
    write: false,
    logLevel: "warning",
  });
};

/** Replaces a file's imports of joined chunks. `joined` has the group and the index in it of each of those. */
const redirected = (text, file, joined) => {
  const names = new Map();
  const rest = text.replace(STATIC_IMPORT, (statement, imported = "", path) => {
    const target = joined.get(join(dirname(file), path));
    if (target === undefined) return statement;
    const specifiers = imported
      .split(",")
      .map((each) => each.trim().split(" as "))
      .filter(([name]) => name !== "")
      .map(([name, local = name]) => `${uniqueName(name, target.index)} as ${local}`);
    names.set(target.file, [...(names.get(target.file) ?? []), ...specifiers]);
    return "";
  });
  const statements = [...names].map(([path, specifiers]) => {
    const between = relative(dirname(file), path);
    const from = JSON.stringify(between.startsWith(".") ? between : `./${between}`);
    return specifiers.length === 0
      ? `import ${from};\n`
      : `import {\n  ${specifiers.join(",\n  ")}\n} from ${from};\n`;
  });
  const [shebang = ""] = /^#!.*\n/.exec(rest) ?? [];
  return `${shebang}${statements.join("")}${rest.slice(shebang.length)}`;
};

/**
 * Replaces the chunks of `starts`, which are lists of entries by names, by one file for each combination of them.
 * `others` are entries that must not load more than they need: whatever they load is joined with nothing else. Returns
 * the paths and sizes of all files.
 */
export const joinChunks = async (root, outputs, starts, others) => {
  const groups = [...groupsOf(outputs, starts, others)];
  const texts = new Map();
  const joined = new Map();
  for (const [group, paths] of groups) {
    const { outputFiles } = await joinGroup(root, outputs, group, paths);
    const file = join(dirname(paths[0]), `${group}.js`);
    texts.set(file, outputFiles[0].text.replace(CHUNK_COMMENT, "").replace(LEGAL_SOURCE_COMMENT, "// "));
    paths.forEach((path, index) => {
      joined.set(path, { file, index });
    });
  }
  for (const path of Object.keys(outputs)) {
    if (!joined.has(path)) texts.set(path, readFileSync(join(root, path), "utf8"));
  }
  for (const path of joined.keys()) rmSync(join(root, path));
  return [...texts].map(([path, text]) => {
    const written = redirected(text, path, joined);
    writeFileSync(join(root, path), written);
    return { path, bytes: Buffer.byteLength(written) };
  });
};
