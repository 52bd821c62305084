import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildSync, stop } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import { builtCli } from "../helpers/built.ts";
import { brokenLinks } from "../helpers/markdownLinks.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { samples } from "../helpers/samples.ts";

const ROOT = join(import.meta.dirname, "../..");

let project: string;

/** A project that has installed the packed package, and nothing else. */
beforeAll(() => {
  builtCli();
  project = mkdtempSync(join(tmpdir(), "sanddune-package-"));
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], {
      cwd: ROOT,
      encoding: "utf8",
    }),
  ) as [{ filename: string }];
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "user", type: "module", private: true }),
  );
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${packed.filename}`], {
    cwd: project,
  });
  return () => rmSync(project, { recursive: true, force: true });
});

const node = (script: string): string =>
  execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: project, encoding: "utf8" });

it("installs no other package", () => {
  expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
    "@missingstudio",
  ]);
});

it("ships what it needs and no internals", () => {
  const installed = join(project, "node_modules/@missingstudio/sanddune");
  expect(readdirSync(installed).sort()).toEqual([
    "CHANGELOG.md",
    "CONTEXT.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "dist",
    "docs",
    "package.json",
    "schemas",
    "templates",
  ]);
  expect(existsSync(join(installed, "dist/engine"))).toBe(false);
});

it("ships its pages without broken links", () => {
  const installed = join(project, "node_modules/@missingstudio/sanddune");
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
  const pages = files.filter((name) => name.endsWith(".md") && !name.startsWith("templates/"));
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/quick-start.md", "docs/recovery.md"]));
  expect(pages.filter((name) => /adr|behaviours|testing/.test(name))).toEqual([]);
  expect(pages.flatMap((name) => brokenLinks(installed, name))).toEqual([]);
});

it("mentions no page in its messages", () => {
  const dist = join(project, "node_modules/@missingstudio/sanddune/dist");
  const naming = readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"))
    .flatMap((name) => readFileSync(join(dist, name), "utf8").match(/docs\/[\w-]+\.md/g) ?? []);
  expect(naming).toEqual([]);
});

it("exports no sandbox provider from the main entry; each has a path of its own", () => {
  const providers = {
    docker: "docker",
    podman: "podman",
    bubblewrap: "bubblewrap",
    e2b: "e2b",
    vercel: "vercel",
    modal: "modal",
    kubernetes: "kubernetes",
    "test-isolated": "testIsolated",
  };
  const { exported, names } = JSON.parse(
    node(`
const names = {};
for (const [path, name] of Object.entries(${JSON.stringify(providers)}))
  names[path] = (await import("@missingstudio/sanddune/sandboxes/" + path))[name]().name;
console.log(JSON.stringify({ exported: Object.keys(await import("@missingstudio/sanddune")), names }));`),
  ) as { exported: string[]; names: Record<string, string> };
  expect(exported).toContain("run");
  expect(exported.filter((name) => Object.values(providers).includes(name))).toEqual([]);
  expect(names).toEqual(Object.fromEntries(Object.keys(providers).map((path) => [path, path])));
});

it("type-checks, with every sample of the documents, in a user's project that does not have Effect", () => {
  const found = samples();
  expect(found.length).toBeGreaterThan(5);
  const cwd = join(project, "samples");
  mkdirSync(join(cwd, "node_modules"), { recursive: true });
  for (const name of ["zod", "e2b"])
    symlinkSync(join(ROOT, "node_modules", name), join(cwd, "node_modules", name));
  for (const [name, code] of found) writeFileSync(join(cwd, name), code);
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const options = [
    "--noEmit",
    "--strict",
    // Node takes types away, and translates nothing.
    "--erasableSyntaxOnly",
    "--target",
    "es2022",
    "--lib",
    "es2023,esnext.disposable",
    "--module",
    "nodenext",
  ];
  const types = [
    "--skipLibCheck",
    "false",
    "--typeRoots",
    join(ROOT, "node_modules/@types"),
    "--types",
    "node",
  ];
  const { stdout } = spawnSync(
    process.execPath,
    [compiler, ...options, ...types, ...found.map(([name]) => name)],
    { cwd, encoding: "utf8" },
  );
  // Samples also import the reader's own files, and the test runner; there are none here. What e2b depends on is not ours.
  const problems = stdout
    .split("\n")
    .filter((line) => line !== "" && !/Cannot find module '(vitest|\.\/)|\/@connectrpc\//.test(line));
  expect(problems).toEqual([]);
});

it("works as installed: a run, and an error that can be caught by its class", () => {
  const cwd = temporaryRepository();
  const printed = node(`
import { run, scripted, AgentFailedError, SandduneError } from "@missingstudio/sanddune";
import { testIsolated } from "@missingstudio/sanddune/sandboxes/test-isolated";
const cwd = ${JSON.stringify(cwd)};
const result = await run({ agent: scripted([{ commit: "Work", files: { a: "1" } }]), sandbox: testIsolated(), cwd, prompt: "x" });
const error = await run({ agent: scripted([{ exit: 4 }]), sandbox: testIsolated(), cwd, prompt: "x" }).catch((reason) => reason);
console.log(JSON.stringify({ commits: result.commits.length, name: error.name, isAgentFailed: error instanceof AgentFailedError, isSanddune: error instanceof SandduneError }));
`);
  expect(JSON.parse(printed)).toEqual({
    commits: 1,
    name: "AgentFailedError",
    isAgentFailed: true,
    isSanddune: true,
  });
});

it.each(["cjs", "esm"] as const)(
  "is bundled into a program without any option, and without SDKs: %s",
  (format) => {
    const cwd = temporaryRepository();
    const source = `
import { run, scripted } from "@missingstudio/sanddune";
import { testIsolated } from "@missingstudio/sanddune/sandboxes/test-isolated";
const agent = scripted([{ commit: "Work", files: { a: "1" } }]);
void run({ agent, sandbox: testIsolated(), prompt: "x" }).then(({ commits }) => console.log(commits.length));`;
    const outfile = join(project, `bundle.${format === "cjs" ? "cjs" : "mjs"}`);
    const stdin = { contents: source, resolveDir: project };
    const { warnings } = buildSync({
      stdin,
      outfile,
      format,
      bundle: true,
      platform: "node",
      logLevel: "silent",
    });
    stop();
    expect(warnings).toEqual([]);
    const alone = join(temporaryDirectory(), basename(outfile));
    copyFileSync(outfile, alone);
    expect(
      execFileSync(process.execPath, [alone], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    ).toBe("1\n");
  },
);

it("has a command line", () => {
  const bin = join(project, "node_modules/.bin/sanddune");
  const version = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;
  expect(execFileSync(bin, ["--version"], { encoding: "utf8" }).trim()).toBe(version);
});

it("makes a scaffold of the templates that it ships", () => {
  const cwd = temporaryRepository();
  const bin = join(project, "node_modules/.bin/sanddune");
  execFileSync(bin, ["init", "--yes", "--no-build", "--template", "parallel-planner"], { cwd });
  expect(existsSync(join(cwd, ".sanddune/plan-prompt.md"))).toBe(true);
});
