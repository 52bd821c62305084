// Dependencies point one way. Each room of src/ may import only from the rooms listed for it, and from itself.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../src", import.meta.url));

/** Files that hold no behaviour of their own: anyone may import them. */
const LEAVES = [
  "environment/contract.ts",
  "errors.ts",
  "commandErrors.ts",
  "results.ts",
  "configDirectory.ts",
  "envVars.ts",
  "hooks.ts",
  "output.ts",
  "usage.ts",
];

const ALLOWED = {
  // What errors.ts is made of; everybody else imports that. Commands to type are written and quoted as all others are.
  errors: ["process/ownCommand", "process/shellQuote.ts"],
  process: [],
  // Checks of options, which every factory and every entry point uses, also in a browser (vitepress/): there the other
  // errors, which look for the command to type, cannot be loaded.
  options: ["errors/input.ts", "process/timeLimit.ts", "git/branchStrategy.ts"],
  // Contracts and what implements them know nothing of the engine.
  agents: ["options", "process"],
  sandboxes: ["options", "process"],
  // It runs in sandboxes, too, where nothing else of sanddune is.
  environment: ["options", "process"],
  agentSessions: ["process", "agents/contract.ts", "sandboxes/contract.ts"],
  display: ["process", "agents"],
  prompt: ["process", "sandboxes/contract.ts"],
  env: ["process", "agents/contract.ts"],
  git: ["process", "sandboxes/contract.ts"],
  engine: [
    "agentSessions",
    "environment",
    "git",
    "prompt",
    "env",
    "display",
    "options",
    "process",
    "agents/contract.ts",
    "sandboxes/contract.ts",
    "sandboxes/handle",
    "sandboxes/noRoot.ts",
    "runOptions.ts",
    "interactiveOptions.ts",
    "sandboxOptions.ts",
    "worktreeOptions.ts",
    // Whoever takes a branch over recovers what dead runs have left on it.
    "runs/recover",
    "runs/listRuns.ts",
  ],
  // Many runs: how each of them is done is handed over.
  fleet: [
    "engine/valueChecks.ts",
    "engine/validateOptions.ts",
    "git/branchStrategy.ts",
    "options",
    "process",
    "sandboxes/contract.ts",
    "runOptions.ts",
  ],
  // What runs have left behind, to be shown, stopped and cleaned up.
  runs: ["engine/journal.ts", "engine/runId.ts", "git", "display", "process", "sandboxes"],
  images: ["options/project", "process", "agents/contract.ts", "sandboxes/containerEngine.ts"],
  init: ["options/project", "images", "git", "process", "agents"],
  doctor: [
    "options",
    "images",
    "init/backlogManagers.ts",
    "env/envFile.ts",
    "git",
    "process",
    "agents",
    "sandboxes",
  ],
  scenarios: [
    "../schemas",
    "engine/askAgent.ts",
    "options",
    "engine/runId.ts",
    "env",
    "git",
    "display",
    "process",
    "agents",
    "sandboxes",
  ],
  // Sandboxes that belong to no repository.
  standalone: [
    "engine/callersCode.ts",
    "options",
    "engine/preflight.ts",
    "engine/runId.ts",
    "engine/valueChecks.ts",
    "env",
    "process",
    "sandboxes",
    "standaloneSandbox.ts",
  ],
  // Recorded runs, to be shown and evaluated.
  trajectory: [
    "engine/trajectoryFile.ts",
    "runs/fieldChecks.ts",
    "environment/contract.ts",
    "git",
    "display",
    "process",
    "scenarios/report",
    "scenarios/records/writeFileWhole.ts",
  ],
  // Rendered by other people's sites: nothing of ours runs there but what draws.
  vitepress: [
    "options",
    "errors/input.ts",
    "scenarios/record.ts",
    "scenarios/report",
    "scenarios/site/siteRecords.ts",
    "display/duration.ts",
  ],
  // The doors and the public surface.
  ".": [
    "engine",
    "environment",
    "fleet",
    "options",
    "standalone",
    "process/boundary.ts",
    "process/entry",
    "agents",
    "sandboxes",
    "git/archiveCommit.ts",
    "git/branchStrategy.ts",
    "git/repository.ts",
    "git/worktrees/uncommittedPaths.ts",
    "display/logging.ts",
    "prompt/resolvePrompt.ts",
    ".",
  ],
  cli: [
    "../schemas",
    ".",
    "fleet/contract.ts",
    "environment",
    "options",
    "runs",
    "trajectory",
    "images",
    "init",
    "doctor",
    "scenarios",
    "agents",
    "sandboxes",
    "display",
    "process/entry",
    "process/hostFileErrors.ts",
    "process/hostPrograms.ts",
    "process/isInside.ts",
    "process/ownCommand",
    "process/shellQuote.ts",
    "process/someOf.ts",
  ],
};

/** Packages that only some rooms may use. */
const RESTRICTED_PACKAGES = {
  effect: ["engine", "git", "prompt", "process", "runs", "."],
  "@modelcontextprotocol": ["environment"],
  commander: ["cli"],
  "@clack": ["cli"],
  "node:child_process": ["process"],
};

/** Waits for an abort: one file does, and pi's extension, which is a program of its own. */
const ABORT_LISTENERS = ["process/abort/onAbort.ts", "agents/piMcpClient.ts"];

/** Everything that differs between operating systems. */
const OPERATING_SYSTEMS = "process/host/";

const roomOf = (file) => {
  const [first, second] = file.split("/");
  return second === undefined ? "." : first;
};

const mayImport = (from, to) => {
  if (LEAVES.includes(to) || roomOf(from) === roomOf(to)) return true;
  return (ALLOWED[roomOf(from)] ?? []).some(
    (allowed) => allowed === to || allowed === roomOf(to) || to.startsWith(`${allowed}/`),
  );
};

const problems = [];
for (const name of readdirSync(source, { recursive: true })) {
  const file = name.replaceAll("\\", "/");
  if (!file.endsWith(".ts")) continue;
  if (!(roomOf(file) in ALLOWED))
    problems.push(`${file}: the room ${roomOf(file)}/ is not in scripts/check-boundaries.mjs`);
  const text = readFileSync(join(source, file), "utf8");
  if (text.includes('addEventListener("abort"') && !ABORT_LISTENERS.includes(file))
    problems.push(`${file} listens for an abort itself: onAbort() of process/abort/ does`);
  if (text.includes("process.platform") && !file.startsWith(OPERATING_SYSTEMS))
    problems.push(`${file} looks at the operating system: hostSystem() of ${OPERATING_SYSTEMS} does`);
  for (const [, specifier] of text.matchAll(/(?:^(?:import|export)[^;]*?from\s+|\bimport\()"([^"]+)"/gms)) {
    if (specifier.startsWith(".")) {
      const target = relative(source, resolve(source, dirname(file), specifier));
      const isPartOfErrors = ["errors.ts", "commandErrors.ts"].includes(file) && roomOf(target) === "errors";
      const isAllowed = LEAVES.includes(file)
        ? LEAVES.includes(target) || isPartOfErrors
        : mayImport(file, target);
      if (!isAllowed)
        problems.push(`${file} imports ${target}: ${roomOf(file)}/ must not depend on ${roomOf(target)}/`);
      continue;
    }
    const packageName = specifier.startsWith("node:") ? specifier : specifier.split("/")[0];
    const rooms = RESTRICTED_PACKAGES[packageName];
    if (rooms !== undefined && !rooms.includes(roomOf(file)))
      problems.push(`${file} imports ${specifier}: only ${rooms.join(", ")} may`);
  }
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log("boundaries: every import points the right way");
