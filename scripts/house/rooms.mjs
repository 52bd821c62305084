// The rooms of src/: what each holds, and which others its files may import from. From the ground up.

/** Rooms that every other room may use: they hold no behaviour of the product. */
export const GROUND = ["errors", "options", "tools"];

/** The room that imports nothing but its own files. */
const LOWEST = "tools";

/** A file of this name holds the types through which rooms meet: every room may import it. */
export const CONTRACT = "contract.ts";

/** `uses` lists rooms, or folders of rooms. A single file (`.ts`) is an exception: the file lives in the wrong room. */
export const ROOMS = {
  tools: { holds: "text, globs, waiting, retrying: functions that know nothing of the product", uses: [] },
  errors: {
    holds: "every error that a caller or a user of the command line sees",
    uses: ["process/ownCommand"],
  },
  options: {
    holds: "types of options and results; checks/ refuses bad options",
    uses: ["process/terminal"],
  },
  process: { holds: "the only room that starts, watches and kills processes of the host", uses: [] },
  boundary: { holds: "between promises and Effect: abort signals, stacks, calls that take turns", uses: [] },
  redaction: { holds: "secrets, and how they are kept out of everything that is written", uses: [] },
  envVars: { holds: "`.env` files, and the env vars that a sandbox gets", uses: ["process", "redaction"] },
  agents: { holds: "a folder for each agent: its provider, its output, its programs", uses: [] },
  sandboxes: {
    holds: "a folder for each sandbox provider, and what they share",
    uses: ["process", "envVars"],
  },
  environment: {
    holds: "test environments, as they run in a sandbox: worker, server, MCP",
    uses: ["process"],
  },
  agentSessions: { holds: "agent sessions on their way between host and sandbox", uses: [] },
  prompt: { holds: "prompt files, arguments, shell expressions", uses: ["boundary"] },
  display: { holds: "the run log and terminal mode", uses: ["process"] },
  git: { holds: "the only room that starts git on the host", uses: ["process", "boundary"] },
  markup: { holds: "building blocks of HTML pages", uses: ["display"] },
  project: { holds: "`.sanddune/config.json` of a repository", uses: ["git", "boundary", "sandboxes"] },
  runs: {
    holds: "the journal of runs; listing, stopping, recovering and cleaning them",
    uses: ["git", "sandboxes", "process", "boundary"],
  },
  standalone: {
    holds: "sandboxes that belong to no repository",
    uses: ["sandboxes", "envVars", "redaction", "boundary", "runs/journal"],
  },
  trajectory: {
    holds: "recorded runs: record/, read/, show/",
    uses: ["boundary", "display", "git", "markup", "process", "prompt", "redaction", "runs/journal"],
  },
  engine: {
    holds: "a run, step by step: plan, checkout, sandbox, iterations, landing",
    uses: [
      ...["agentSessions", "boundary", "display", "environment", "envVars", "git", "process", "prompt"],
      ...["redaction", "runs", "sandboxes", "standalone", "trajectory/record"],
    ],
  },
  fleet: { holds: "many runs at a time: limits, retries, outcomes", uses: [] },
  scenarios: {
    holds: "scenario pages, execution, grading, records, reports",
    uses: [
      ...[
        "agents",
        "boundary",
        "display",
        "engine/agent",
        "envVars",
        "git",
        "markup",
        "process",
        "redaction",
      ],
      ...["runs/journal", "sandboxes"],
    ],
  },
  vitepress: {
    holds: "records on a VitePress site: Vue components, and the plugin that loads the records",
    uses: ["markup", "scenarios/pages", "scenarios/records", "scenarios/report"],
  },
  images: { holds: "building and removing container images", uses: ["process", "project", "sandboxes"] },
  init: {
    holds: "the scaffold of `sanddune init`",
    uses: ["agents", "boundary", "git", "images", "process", "project"],
  },
  doctor: {
    holds: "checks of the machine",
    uses: [...["agents", "boundary", "envVars", "git", "images", "init", "process", "project", "sandboxes"]],
  },
  ".": {
    holds: "the entry points and the public surface",
    uses: ["agents", "boundary", "engine", "environment", "fleet", "sandboxes", "scenarios", "standalone"],
  },
  cli: {
    holds: "the command line: flags in, calls of the library, text out",
    uses: [
      ...[".", "agents", "boundary", "display", "doctor", "engine/environment/tests", "environment", "fleet"],
      ...["images", "init", "process", "project", "runs", "sandboxes", "scenarios", "trajectory"],
    ],
  },
};

/** The room of a file or folder of src/. The public names of errors/ are kept at the root. */
export const roomOf = (path) => {
  if (path === "errors.ts") return "errors";
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : path in ROOMS ? path : ".";
};

/** Whether files of one place may import from another. */
export const mayUse = (from, to) => {
  const room = roomOf(to);
  if (roomOf(from) === LOWEST) return room === LOWEST;
  if (roomOf(from) === room || GROUND.includes(room) || to.endsWith(`/${CONTRACT}`)) return true;
  return ROOMS[roomOf(from)].uses.some((used) => used === to || used === room || to.startsWith(`${used}/`));
};

/** Packages that only some rooms, or folders of rooms, may use. */
export const RESTRICTED_PACKAGES = {
  effect: [".", "boundary", "engine", "git", "prompt", "runs/clean", "runs/recover", "trajectory/record"],
  "@modelcontextprotocol": ["environment"],
  commander: ["cli"],
  "@clack": ["cli"],
  "node:child_process": ["process"],
};

/** The way of one run: a folder, what happens in it, and the folders whose code it calls for that. */
export const WAY_OF_A_RUN = [
  ["cli/run", "translates flags into options", ["."]],
  [".", "run() checks its options", ["options/checks", "engine/plan", "engine/session"]],
  ["engine/plan", "decides branch, env vars and prompt; creates nothing", ["envVars", "prompt", "git"]],
  ["engine/session", "opens the journal and the display", ["runs/journal", "display"]],
  ["engine/checkout", "locks the branch, makes the worktree", ["git/locks", "git/worktrees"]],
  [
    "engine/sandbox",
    "opens the sandbox on a git directory of its own",
    ["git/sandboxDirectory", "sandboxes/handle"],
  ],
  ["engine/hooks", "runs the hooks of host and sandbox", ["process"]],
  ["engine/iterations", "repeats until the completion signal, a limit or a failure", ["prompt"]],
  ["engine/agent", "starts the agent, reads its output", ["agentSessions"]],
  ["engine/landing", "imports the commits, merges them", ["git/transfer", "git/merge"]],
  ["engine/session", "writes result, log and journal; releases everything", ["redaction", "display"]],
];
