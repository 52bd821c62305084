import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { createRunId } from "../../../src/runs/journal/runId.ts";
import {
  findDeadDirectories,
  type OwnedDirectory,
  openOwnedDirectory,
  removeDeadDirectories,
} from "../../../src/sandboxes/directories/ownedDirectory.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { startSilentServer } from "../../helpers/cloud/silentServer.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** The owner of what is left behind: this process, as it would be after a reboot. */
const DEAD = JSON.stringify({ ...ownIdentity(), bootId: "another" });

afterEach(() => {
  vi.unstubAllEnvs();
});

const plant = (): string => {
  const directory = temporaryDirectory();
  vi.stubEnv("TMPDIR", directory);
  return directory;
};

const bury = ({ path }: OwnedDirectory): void => writeFileSync(join(path, "owner.json"), DEAD);

it.each(["scenarios", "standalone"] as const)(
  "what a dead process has left of its %s is removed, and what a living one has is not",
  async (kind) => {
    const directory = plant();
    const living = await openOwnedDirectory(kind, createRunId());
    mkdirSync(join(directory, `sanddune-${kind}-dead/project`), { recursive: true });
    writeFileSync(join(directory, `sanddune-${kind}-dead/owner.json`), DEAD);
    await removeDeadDirectories();
    expect(readdirSync(directory)).toEqual([`sanddune-${kind}-${living.runId}`]);
    await living.remove();
    expect(readdirSync(directory)).toEqual([]);
  },
);

it("sandboxes that were noted in it go with it", async () => {
  const directory = plant();
  const dead = await openOwnedDirectory("standalone", createRunId());
  const sandboxName = `sanddune-${dead.runId}`;
  dead.noteSandbox("test-isolated", sandboxName);
  await testIsolated().create({ runId: dead.runId, sandboxName, repositoryPath: directory });
  bury(dead);
  const [found, ...others] = await findDeadDirectories();
  expect(others).toEqual([]);
  expect(found?.runIds).toEqual([dead.runId]);
  expect(await found?.describe(new AbortController().signal)).toEqual([expect.stringContaining(sandboxName)]);
  expect(readdirSync(directory)).toHaveLength(2);
  await removeDeadDirectories();
  expect(readdirSync(directory)).toEqual([]);
});

it("what is noted later about a sandbox counts, and a line that was torn off does not", async () => {
  plant();
  const owned = await openOwnedDirectory("standalone", createRunId());
  const sandboxName = `sanddune-${owned.runId}`;
  owned.noteSandbox("elsewhere", sandboxName);
  owned.noteSandbox("elsewhere", sandboxName, "tcp://there:2375");
  const notes = join(owned.path, "sandboxes.jsonl");
  appendFileSync(notes, '{"provider":"test-isolated","sandboxNa');
  bury(owned);
  const [found] = await findDeadDirectories();
  expect(found?.runIds).toEqual([owned.runId]);
  expect(readFileSync(notes, "utf8")).toContain("tcp://there:2375");
  expect(await found?.describe(new AbortController().signal)).toEqual([]);
  await found?.remove(new AbortController().signal);
  expect(existsSync(owned.path)).toBe(false);
});

it.each(["../victim", "a/b", ""])("a sandbox that is noted as %j is none", async (sandboxName) => {
  const directory = plant();
  const owned = await openOwnedDirectory("standalone", createRunId());
  mkdirSync(join(directory, "victim"));
  mkdirSync(join(directory, "sanddune-test-isolated-"));
  owned.noteSandbox("test-isolated", sandboxName);
  bury(owned);
  await removeDeadDirectories();
  expect(readdirSync(directory).sort()).toEqual(["sanddune-test-isolated-", "victim"]);
});

it("a directory that is kept for the user stays", async () => {
  plant();
  const kept = await openOwnedDirectory("scenarios", createRunId());
  await kept.keep();
  await removeDeadDirectories();
  expect(existsSync(kept.path)).toBe(true);
});

it.each<[string, (planted: string, victim: string) => void]>([
  ["a link to a directory", (planted, victim) => symlinkSync(victim, planted)],
  [
    "a directory whose owner is a pipe",
    (planted) => {
      mkdirSync(planted);
      execFileSync("mkfifo", [join(planted, "owner.json")]);
    },
  ],
  [
    "a directory whose owner is a link",
    (planted, victim) => {
      mkdirSync(planted);
      symlinkSync(join(victim, "owner.json"), join(planted, "owner.json"));
    },
  ],
  [
    "a directory whose owner is rubbish",
    (planted) => {
      mkdirSync(planted);
      writeFileSync(join(planted, "owner.json"), "{");
    },
  ],
])("%s that has such a name is left alone, and holds up nobody", async (_, make) => {
  const victim = temporaryDirectory();
  const directory = plant();
  writeFileSync(join(victim, "owner.json"), DEAD);
  writeFileSync(join(victim, "precious"), "precious");
  make(join(directory, "sanddune-scenarios-planted"), victim);
  await removeDeadDirectories();
  expect(readdirSync(victim).sort()).toEqual(["owner.json", "precious"]);
  expect(readdirSync(directory)).toEqual(["sanddune-scenarios-planted"]);
});

it("a service that does not answer blocks nothing, and its sandbox stays noted", async () => {
  const server = await startSilentServer();
  onTestFinished(() => server.close());
  const directory = plant();
  vi.stubEnv("MODAL_SERVER_URL", server.url);
  vi.stubEnv("MODAL_TOKEN_ID", "ak-1");
  vi.stubEnv("MODAL_TOKEN_SECRET", "as-1");
  const dead = await openOwnedDirectory("standalone", createRunId());
  dead.noteSandbox("modal", `sanddune-${dead.runId}`, "sanddune");
  bury(dead);
  const enough = new AbortController();
  const removing = removeDeadDirectories(enough.signal);
  await waitFor(() => server.connections() > 0);
  enough.abort();
  await removing;
  expect(readdirSync(directory)).toHaveLength(1);
  // Also the request is over: otherwise this process could not end.
  await waitFor(() => server.connections() === 0);
});
