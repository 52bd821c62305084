import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { createStandaloneSandbox, type IsolatedSandboxProvider, run, scripted } from "../../../src/index.ts";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { cleanUp, cleanUpOutsideRepositories } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import type { LeftSandbox } from "../../../src/sandboxes/leftovers.ts";
import { addLeftovers } from "../../../src/sandboxes/registry.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

/** A sandbox provider with more than one place; sandboxes that were not removed are remembered in the places. */
const NAME = "placed";
const places = new Map<string, Set<string>>();
const asked: LeftSandbox[] = [];

const placed = (place: string, afterPlacing: () => void = () => {}): IsolatedSandboxProvider => ({
  ...testIsolated(),
  name: NAME,
  create: async (options) => {
    options.onPlaced?.(place);
    afterPlacing();
    places.set(place, (places.get(place) ?? new Set()).add(options.sandboxName));
    return testIsolated().create(options);
  },
});

addLeftovers(NAME, {
  holdsWork: false,
  find: async (sandbox: LeftSandbox) => {
    asked.push(sandbox);
    return places.get(sandbox.place ?? "")?.has(sandbox.sandboxName)
      ? `${sandbox.sandboxName} at ${sandbox.place}`
      : undefined;
  },
  remove: async ({ place = "", sandboxName }: LeftSandbox) => void places.get(place)?.delete(sandboxName),
});

afterEach(() => {
  vi.unstubAllEnvs();
  places.clear();
  asked.length = 0;
});

const journalOf = (cwd: string): string => {
  const [runId = ""] = readdirSync(join(cwd, ".sanddune/runs")).filter((name) => name !== ".gitignore");
  return join(cwd, ".sanddune/runs", runId, "journal.jsonl");
};

const entriesOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** As if the process had been killed before the sandbox was there, and the machine had been started anew. */
const kill = (path: string, { wasPlaced }: { readonly wasPlaced: boolean }): void => {
  const entries = entriesOf(path);
  const placing = entries.findIndex(({ type }) => type === "placed");
  const [begun, ...others] = entries.slice(0, placing + (wasPlaced ? 1 : 0));
  const dead = { ...begun, owner: { ...ownIdentity(), bootId: "another" } };
  writeFileSync(path, [dead, ...others].map((entry) => `${JSON.stringify(entry)}\n`).join(""));
};

const options = { runs: [], branches: [], records: false };

it("a journal names the place of a sandbox before the sandbox is made", async () => {
  const cwd = temporaryRepository();
  let early: Record<string, unknown>[] = [];
  const sandbox = placed("tcp://there:2375", () => {
    early = entriesOf(journalOf(cwd));
  });
  await run({ agent: scripted([]), sandbox, cwd, prompt: "x" });
  expect(early.map(({ type }) => type)).toContain("creating");
  expect(early.at(-1)).toMatchObject({
    type: "placed",
    what: "sandbox",
    name: expect.stringMatching(/^sanddune-/),
    place: "tcp://there:2375",
  });
});

it("clean looks for the sandbox of a dead run at its place, and removes it there", async () => {
  const cwd = temporaryRepository();
  await run({ agent: scripted([]), sandbox: placed("b"), cwd, prompt: "x" });
  const [name = ""] = places.get("b") ?? [];
  places.set("a", new Set([name]));
  kill(journalOf(cwd), { wasPlaced: true });
  const repository = await findRepository(cwd);
  const ofSandbox = (outcomes: Awaited<ReturnType<typeof cleanUp>>) =>
    outcomes.filter(({ what }) => what === "sandbox");
  const rehearsed = ofSandbox(await cleanUp(repository, { ...options, remove: false }));
  expect(rehearsed).toMatchObject([{ outcome: "wouldBeRemoved", name: `${name} at b` }]);
  expect(asked).toMatchObject([{ sandboxName: name, place: "b" }]);
  const removed = ofSandbox(await cleanUp(repository, { ...options, remove: true }));
  expect(removed).toMatchObject([{ outcome: "removed" }]);
  expect(places).toEqual(
    new Map([
      ["b", new Set()],
      ["a", new Set([name])],
    ]),
  );
  expect(ofSandbox(await cleanUp(repository, { ...options, remove: true }))).toEqual([]);
});

it("clean finds it from another worktree of the repository, too", async () => {
  const cwd = temporaryRepository();
  await run({ agent: scripted([]), sandbox: placed("b"), cwd, prompt: "x" });
  kill(journalOf(cwd), { wasPlaced: true });
  const linked = join(temporaryDirectory(), "linked");
  git(cwd, "worktree", "add", "--quiet", "--detach", linked);
  const outcomes = await cleanUp(await findRepository(linked), { ...options, remove: true });
  expect(outcomes.filter(({ what }) => what === "sandbox")).toMatchObject([{ outcome: "removed" }]);
});

it("clean asks no machine that a journal names which came with the repository", async () => {
  const cwd = temporaryRepository();
  await run({ agent: scripted([]), sandbox: placed("b"), cwd, prompt: "x" });
  kill(journalOf(cwd), { wasPlaced: true });
  git(cwd, "add", "--force", ".sanddune/runs");
  const outcomes = await cleanUp(await findRepository(cwd), { ...options, remove: true });
  expect(asked).toEqual([]);
  expect(outcomes.filter(({ what }) => what === "sandbox")).toMatchObject([
    { outcome: "kept", keptBecause: expect.stringContaining("git tracks its journal") },
  ]);
});

it("a run that died before it knew the place has none to look at", async () => {
  const cwd = temporaryRepository();
  await run({ agent: scripted([]), sandbox: placed("b"), cwd, prompt: "x" });
  kill(journalOf(cwd), { wasPlaced: false });
  await cleanUp(await findRepository(cwd), { ...options, remove: false });
  expect(asked).toHaveLength(1);
  expect(asked[0]).not.toHaveProperty("place");
});

it("a standalone sandbox of a dead process is looked for at its place as well", async () => {
  vi.stubEnv("TMPDIR", temporaryDirectory());
  const sandbox = await createStandaloneSandbox(placed("c"));
  const directory = join(
    process.env["TMPDIR"] ?? "",
    `sanddune-standalone-${sandbox.name.replace(/^sanddune-/, "")}`,
  );
  const owner = readFileSync(join(directory, "owner.json"), "utf8");
  writeFileSync(join(directory, "owner.json"), JSON.stringify({ ...ownIdentity(), bootId: "another" }));
  expect(await cleanUpOutsideRepositories({ remove: false })).toMatchObject([
    { outcome: "wouldBeRemoved", name: `${sandbox.name} at c, directory ${directory}` },
  ]);
  writeFileSync(join(directory, "owner.json"), owner);
  expect(await cleanUpOutsideRepositories({ remove: false })).toEqual([]);
  await sandbox.terminate();
});
