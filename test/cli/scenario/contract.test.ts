import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ScenarioRecord } from "../../../src/scenarios/records/record.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { runCli } from "../callCli.ts";
import { makeSuite } from "./scenarioSuites.ts";

useOwnTemporaryDirectory();

/** A tool that brings the files of a manifest into a project, from wherever they are served. */
const BEACON = `
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
const [subcommand, root, ...flags] = process.argv.slice(2);
const baseUrl = flags.find((flag) => flag.startsWith("--base-url=")).slice("--base-url=".length);
if (!flags.includes("--yes")) throw new Error("nobody is here to answer");
const get = async (path) => {
  const response = await fetch(baseUrl + "/" + path);
  if (!response.ok) throw new Error(path + ": " + response.status);
  return response.text();
};
const hash = (text) => createHash("sha256").update(text).digest("hex");
const { version, files } = JSON.parse(await get("manifest.json"));
const withCli = flags.includes("--with=cli");
const wanted = files.filter(({ path }) => withCli || !path.startsWith("scripts/"));
if (subcommand === "install") {
  for (const { path } of wanted) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), await get(path));
  }
  writeFileSync(join(root, ".beacon-version"), "v" + version + "\\n");
} else if (subcommand === "sync") {
  const changed = wanted.filter(({ path, sha256 }) => hash(readFileSync(join(root, path))) !== sha256);
  for (const { path } of changed) console.error("modified: " + path);
  if (changed.length > 0) process.exit(1);
} else if (subcommand === "uninstall") {
  for (const { path } of files) rmSync(join(root, path), { force: true });
  rmSync(join(root, ".beacon-version"));
} else throw new Error("unknown: " + subcommand);
console.log(subcommand + " " + version + " " + existsSync(join(root, "package.json")));
`;

const RULE = "Be kind.\n";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

const page = (title: string, frontMatter: string, spec: string): string => `---
${frontMatter}
sidebar: true
tags:
  - sandbox
---

# ${title}

<RunRecords test-id="x" />

## Steps

1. What a person would do, with \`\`\` in the middle and <!-- a comment -->.

<!-- sandbox-spec:start -->

\`\`\`json
${spec}
\`\`\`

<!-- sandbox-spec:end -->

## Expected outcome

It is there.
`;

const INSTALL = page(
  "Install with Cursor into a Node project",
  "test_id: install-cursor-node",
  `{
  "runnable": "cli",
  "fixture": "fixtures/sandbox-node-ts",
  "ide_platform": "cursor",
  "prerequisites": [
    { "name": "begin a repository", "cmd": ["git", "init", "--quiet"] }
  ],
  "steps": [
    { "name": "install", "cli": "install", "flags": ["--with=cli"] }
  ],
  "assertions": [
    { "file_exists": ".beacon-version" },
    { "dir_exists": ".cursor/rules" },
    { "file_absent": "AGENTS.md" },
    { "dir_absent": "node_modules" },
    { "file_contains": { "path": "package.json", "substr": "\\"name\\": \\"sandbox-node-ts\\"" } },
    { "file_matches": { "path": ".beacon-version", "regex": "^v0\\\\.1\\\\." } },
    { "sha256_equals": { "path": ".cursor/rules/kind.mdc", "sha256": "RULE_HASH" } },
    { "cmd_zero": ["node", "scripts/check.mjs", "--root", "."] },
    { "cmd_nonzero": ["node", "scripts/check.mjs", "--root", "src"] },
    { "git_clean": false }
  ],
  "notes": "free-form context for the row"
}`,
);

const SYNC = page(
  "Sync finds what was modified",
  "test_id: sync-modified",
  `{
  "runnable": "cli",
  "fixture": "fixtures/sandbox-node-ts",
  "ide_platform": "cursor",
  "prerequisites": [
    { "name": "install", "cli": "install" },
    { "name": "drop a helper", "write_file": { "path": "check.py", "content": "import sys, pathlib\\nsys.exit(0 if 'changed' in pathlib.Path(sys.argv[1]).read_text() else 1)\\n" } }
  ],
  "steps": [
    { "name": "change a rule", "append_to_file": { "path": ".cursor/rules/kind.mdc", "content": "changed\\n" } },
    { "name": "sync", "cli": "sync", "flags": [], "allow_nonzero": true },
    { "name": "say so", "cmd": ["node", "-e", "require('fs').writeFileSync('said.txt', 'said')"] }
  ],
  "assertions": [
    { "cmd_zero": ["python3", "check.py", ".cursor/rules/kind.mdc"] },
    { "file_exists": "said.txt" }
  ]
}`,
);

const BOOT = page(
  "Boot with Cursor",
  "id: boot-cursor-node",
  `{
  "runnable": "agent",
  "fixture": "fixtures/sandbox-node-ts",
  "ide_platform": "cursor",
  "prerequisites": [{ "name": "install", "cli": "install" }],
  "steps": [{ "name": "boot", "agent": "boot" }],
  "assertions": [{ "file_exists": ".beacon-version" }]
}`,
);

const BY_HAND = page(
  "Only by hand",
  "layout: doc",
  `{ "runnable": "manual", "fixture": "fixtures/sandbox-node-ts", "ide_platform": "aider", "prerequisites": [], "steps": [], "assertions": [], "notes": "No provider yet." }`,
);

test("A suite as the contract describes it runs as it is, against the local mirror", async () => {
  const check = "import { statSync } from 'node:fs';\nstatSync(process.argv[3] + '/.beacon-version');\n";
  const manifest = {
    version: "0.1.7",
    files: [
      { path: ".cursor/rules/kind.mdc", sha256: hash(RULE) },
      { path: "scripts/check.mjs", sha256: hash(check) },
    ],
  };
  const scenarios = "docs/testing/sandbox/scenarios";
  const cwd = makeSuite({
    pages: {},
    files: {
      [`${scenarios}/index.md`]: "# Scenarios\n\nEach page has a spec.\n",
      [`${scenarios}/01-install.md`]: INSTALL.replace("RULE_HASH", hash(RULE)),
      [`${scenarios}/02-sync.md`]: SYNC,
      [`${scenarios}/03-boot.md`]: BOOT,
      [`${scenarios}/by-hand.md`]: BY_HAND,
      "tools/beacon-cli/bin/beacon.mjs": BEACON,
      "docs/public/manifest.json": JSON.stringify(manifest),
      "docs/public/.cursor/rules/kind.mdc": RULE,
      "docs/public/scripts/check.mjs": check,
      "fixtures/sandbox-node-ts/package.json": '{ "name": "sandbox-node-ts" }\n',
      "fixtures/sandbox-node-ts/src/index.ts": "export {};\n",
    },
    settings: {
      scenarioDir: `../${scenarios}`,
      mirrorDir: "../docs/public",
      recordsDir: "../docs/testing/sandbox/runs",
      versionFile: "../docs/public/manifest.json#version",
      cliCommand: [
        ...["node", "tools/beacon-cli/bin/beacon.mjs", "{subcommand}", "{projectRoot}"],
        ...["--yes", "--base-url={baseUrl}", "{...flags}"],
      ],
    },
  });
  const ran = await runCli(["scenario", "run", "--runnable=any", "--ci=https://ci.example.com/1", "--json"], {
    cwd,
    env: { CURSOR_API_KEY: "" },
  });
  expect(ran).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^Local mirror: http:\/\/127\.0\.0\.1:\d+$/m),
  });
  const records: ScenarioRecord[] = JSON.parse(ran.stdout).records;
  const resultOf = (id: string) => records.find(({ test_id }) => test_id === id);
  expect(resultOf("install-cursor-node")).toMatchObject({ result: "passing", manifest_version: "v0.1.7" });
  expect(resultOf("sync-modified")).toMatchObject({ result: "passing" });
  expect(resultOf("sync-modified")?.steps[4]).toMatchObject({
    exit_code: 1,
    stderr_tail: "modified: .cursor/rules/kind.mdc",
  });
  expect(resultOf("boot-cursor-node")).toMatchObject({
    result: "manual",
    runner: { kind: "manual", provider: "cursor" },
    steps: [{ name: "copy fixture" }, { name: "prereq: install" }, { name: "boot", manual: true }],
  });
  expect(resultOf("by-hand")).toMatchObject({ result: "manual", notes: "No provider yet." });
  expect(records).toHaveLength(4);
  const index = JSON.parse(readFileSync(join(cwd, "docs/testing/sandbox/runs/index.json"), "utf8"));
  expect(Object.keys(index.latest)).toEqual([
    ...["boot-cursor-node", "by-hand", "install-cursor-node", "sync-modified"],
  ]);
});
