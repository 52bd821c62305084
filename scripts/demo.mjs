// npm run demo: one real run, from a prompt to a commit on a branch, with nothing but git and Node.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run, scripted } from "../dist/index.js";

const BRANCH = "agent/add-farewell";
const PROMPT = "greet.sh can say hello, but not goodbye. Add farewell.sh, and mention it in the README.";
const FILES = {
  "README.md": "# Greetings\n\n    sh greet.sh      says hello\n",
  "greet.sh": 'echo "Hello, $1!"\n',
};

const heading = (text) => console.log(`\n== ${text}`);
const show = (text) => console.log(text.trimEnd().replace(/^/gm, "   "));
const wrapped = (text) => text.replace(/(.{1,74})( |$)/g, "$1\n");

// --- a repository to work on -----------------------------------------------------------------------------------------

const makeRepository = () => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-demo-")));
  const git = (...args) => execFileSync("git", args, { cwd: path, encoding: "utf8" });
  git("init", "--quiet", "--initial-branch=main");
  // Of this repository only: the machine may have no identity, and its own is not ours to set.
  git("config", "user.name", "Demo");
  git("config", "user.email", "demo@example.com");
  git("config", "commit.gpgSign", "false");
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(path, name), content);
  git("add", ".");
  git("commit", "--quiet", "-m", "Say hello");
  return { path, git };
};

// --- the best sandbox of this machine --------------------------------------------------------------------------------

const succeeds = (program, args) =>
  spawnSync(program, args, { stdio: "ignore", timeout: 20_000 }).status === 0;

const outputOf = (program, args) =>
  spawnSync(program, args, { encoding: "utf8", timeout: 20_000 }).stdout ?? "";

const MAX_IMAGES_TRIED = 5;

/** An image on this machine that has what a run needs. None is downloaded. */
const usableImage = (engine) => {
  const local = outputOf(engine, [
    "images",
    "--filter",
    "dangling=false",
    "--format",
    "{{.Repository}}:{{.Tag}}",
  ])
    .split("\n")
    .filter((name) => name !== "")
    .slice(0, MAX_IMAGES_TRIED);
  const named = process.env.SANDDUNE_DEMO_IMAGE;
  const isUsable = (image) =>
    succeeds(engine, [
      ...["run", "--rm", "--pull", "never", "--network", "none", "--entrypoint", "sh"],
      ...[image, "-c", "command -v git && command -v grep"],
    ]);
  return (named === undefined ? local : [named]).find(isUsable);
};

/** Why the engine cannot be used, or the image to use. */
const tryEngine = (engine) => {
  if (!succeeds(engine, ["--version"])) return { problem: "not installed" };
  if (!succeeds(engine, ["info"])) return { problem: "installed, but it does not answer" };
  const image = usableImage(engine);
  return image === undefined
    ? { problem: "no image with git in it; name one with SANDDUNE_DEMO_IMAGE" }
    : { image };
};

const container = async (engine) => {
  const { problem, image } = tryEngine(engine);
  if (problem !== undefined) return { problem };
  const provider = (await import(`../dist/sandboxes/${engine}.js`))[engine];
  return {
    sandbox: provider({ imageName: image, network: "none" }),
    reason: `a ${engine} container of the image ${image}`,
  };
};

const namespaces = async () => {
  const trial = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], { stdio: "ignore" });
  if (trial.error !== undefined) return { problem: "not installed" };
  if (trial.status !== 0) return { problem: "installed, but this machine does not allow user namespaces" };
  const { bubblewrap } = await import("../dist/sandboxes/bubblewrap.js");
  return { sandbox: bubblewrap(), reason: "Linux namespaces; no daemon and no image needed" };
};

const temporaryDirectory = async () => {
  const { testIsolated } = await import("../dist/sandboxes/test-isolated.js");
  return { sandbox: testIsolated(), reason: "running in a temp directory, which isolates nothing" };
};

const chooseSandbox = async () => {
  const candidates = {
    docker: () => container("docker"),
    podman: () => container("podman"),
    bubblewrap: namespaces,
    "no container runtime found": temporaryDirectory,
  };
  for (const [name, attempt] of Object.entries(candidates)) {
    const { problem, sandbox, reason } = await attempt();
    show(wrapped(`${name}: ${problem ?? reason}`));
    if (sandbox !== undefined) return sandbox;
  }
};

// --- the agent -------------------------------------------------------------------------------------------------------

/** Plays its part the same way every time, so the demo needs no account and no network. */
const agent = scripted([
  { text: "Let me see what is here." },
  { shell: "ls; sh greet.sh Ada" },
  { text: "There is no farewell yet. I will write one, try it, and commit." },
  { shell: `echo 'echo "Goodbye, $1!"' > farewell.sh; sh farewell.sh Ada` },
  { shell: "printf '    sh farewell.sh   says goodbye\\n' >> README.md" },
  { commit: "Say goodbye" },
  { text: "Done. <promise>COMPLETE</promise>" },
]);

// --- what it cost ----------------------------------------------------------------------------------------------------

/** The phases in their order, each with what it is a part of: an entry is written when its phase is over. */
const phasesOf = (repository, runId) => {
  const phases = readFileSync(join(repository, ".sanddune/runs", runId, "journal.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type, durationMs }) => type === "phase" && durationMs > 0)
    .map(({ phase, durationMs, at }) => ({
      phase,
      durationMs,
      end: Date.parse(at),
      start: Date.parse(at) - durationMs,
    }))
    .sort((one, other) => one.start - other.start || other.durationMs - one.durationMs);
  const contains = (outer, inner) =>
    outer !== inner &&
    outer.start <= inner.start + 1 &&
    outer.end >= inner.end &&
    outer.durationMs > inner.durationMs;
  return phases.map((phase) => ({
    ...phase,
    depth: phases.filter((other) => contains(other, phase)).length,
  }));
};

const duration = (label, ms) => `${label.padEnd(20)}${String(Math.round(ms)).padStart(6)} ms`;

// --- the demo --------------------------------------------------------------------------------------------------------

const { path: repository, git } = makeRepository();

heading("Sandbox");
const sandbox = await chooseSandbox();

heading("Prompt");
show(wrapped(PROMPT));

const startedAt = performance.now();
const result = await run({
  agent,
  sandbox,
  cwd: repository,
  branchStrategy: { type: "branch", branch: BRANCH },
  prompt: PROMPT,
}).catch((error) => {
  console.error(`\nThe demo failed. ${error.message}\nThe repository: ${repository}`);
  process.exit(1);
});
const totalMs = performance.now() - startedAt;

heading("The agent said");
show(result.stdout);

heading(`Branch ${result.branch}, ${result.commits.length} commit`);
show(git("show", "--stat", "--patch", "--no-color", "--format=%h %an: %s", result.branch));

heading("Time");
for (const { phase, depth, durationMs } of phasesOf(repository, result.runId)) {
  show(duration("  ".repeat(depth) + phase, durationMs));
}
show(duration("the whole run", totalMs));

heading("Kept, for you to look at and to remove");
show(`cd ${repository}
less ${relative(repository, result.logFilePath)}
rm -rf ${repository}`);

const isAsPromised = result.commits.length === 1 && result.completionSignal !== undefined;
if (!isAsPromised) {
  console.error("\nThe demo failed: one commit and a completion signal were expected.");
  process.exit(1);
}
