import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../src/boundary/boundary.ts";
import { checkCheckouts } from "../../src/doctor/checkouts.ts";
import { openRepository } from "../../src/git/repository.ts";
import { ownIdentity } from "../../src/process/kill/processIdentity.ts";
import { cleanUp } from "../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../src/runs/findRepository.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { BindMountSandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { podman } from "../../src/sandboxes/podman.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWith } from "../helpers/runtimes/runtimes.ts";

const findingIn = async (cwd: string, provider: BindMountSandboxProvider = bubblewrap()) => {
  const repository = await runAtBoundary(openRepository(cwd));
  return (await checkCheckouts(provider, { repository }))[0];
};

/** A provider that says nothing against overlays, and the directories that it was asked about. */
const asking = () => {
  const asked: string[] = [];
  const overlayProblem = async (directory: string) => {
    expect(readdirSync(directory)).toEqual([]);
    asked.push(directory);
    return undefined;
  };
  return { asked, provider: { ...bubblewrap(), overlayProblem } };
};

describeWith(["bubblewrap"], "doctor says how runs check out a large repository", () => {
  it("by overlays, where this process can mount them", async () => {
    const cwd = temporaryRepository();
    expect(await findingIn(cwd)).toEqual({
      title: "large repositories in bubblewrap",
      state: "ok",
      detail: "runs share one checkout by overlays",
    });
    expect(git(cwd, "status", "--porcelain", "--ignored")).toBe("");
  });

  it("by all files, and why, where it cannot: in a fresh clone, too", async () => {
    const cwd = join(temporaryDirectory(), "my proj");
    mkdirSync(cwd);
    git(cwd, "init", "--quiet");
    expect(await findingIn(cwd)).toMatchObject({
      state: "note",
      detail: expect.stringContaining(
        `each run writes all files: a mount cannot name a path in ${cwd}/.git/sanddune,`,
      ),
    });
  });
});

describe("doctor says for each sandbox provider how runs check out a large repository", () => {
  it("what the provider says against overlays, or that it does not support them", async () => {
    const cwd = temporaryRepository();
    const picky = { ...bubblewrap(), name: "picky", overlayProblem: async () => "its kernel has none" };
    expect(await findingIn(cwd, picky)).toEqual({
      title: "large repositories in picky",
      state: "note",
      detail: "each run writes all files: its kernel has none",
    });
    const { overlayProblem: _, ...plain } = bubblewrap();
    expect(await findingIn(cwd, plain)).toMatchObject({
      state: "note",
      detail: "each run writes all files: the provider does not support overlays",
    });
  });

  it.each([
    ["docker", docker],
    ["podman", podman],
  ])("that mounts of %s have SELinux labels", async (_, provider) => {
    expect(await findingIn(temporaryRepository(), provider({ selinuxLabel: "z" }))).toMatchObject({
      state: "note",
      detail: "each run writes all files: overlays have no SELinux label",
    });
  });

  it("after a trial where runs put their overlays, out of git's sight, which leaves nothing", async () => {
    const cwd = temporaryRepository();
    const { asked, provider } = asking();
    expect(await findingIn(cwd, provider)).toMatchObject({ state: "ok" });
    expect(dirname(asked[0] ?? "")).toBe(join(cwd, ".git/sanddune"));
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
    expect(readdirSync(join(cwd, ".git/sanddune"), { recursive: true })).toEqual(["locks"]);
  });
});

describe("a killed trial", () => {
  const killedTrial = (startTime: string) => {
    const cwd = temporaryRepository();
    const path = join(cwd, ".git/sanddune/trial-aaaaaaaaaaaa");
    const lock = join(cwd, ".git/sanddune/locks/trial-aaaaaaaaaaaa.lock");
    mkdirSync(join(path, "upper"), { recursive: true });
    mkdirSync(dirname(lock));
    const owner = { ...ownIdentity(), purpose: "trying to mount an overlay", since: "", startTime };
    writeFileSync(lock, JSON.stringify(owner));
    return { cwd, path, lock };
  };

  it("is removed by the next one", async () => {
    const { cwd, path, lock } = killedTrial("1");
    await findingIn(cwd, asking().provider);
    expect([existsSync(path), existsSync(lock)]).toEqual([false, false]);
  });

  it("is removed by clean", async () => {
    const { cwd, path, lock } = killedTrial("1");
    const options = { remove: true, runs: [], branches: [], records: false };
    const outcomes = await cleanUp(await findRepository(cwd), options);
    expect(outcomes).toMatchObject([{ what: "lock", name: lock, outcome: "removed" }]);
    expect([existsSync(path), existsSync(lock)]).toEqual([false, false]);
  });

  it("is one whose process has ended: another is left alone", async () => {
    const { cwd, path, lock } = killedTrial(ownIdentity().startTime);
    await findingIn(cwd, asking().provider);
    await cleanUp(await findRepository(cwd), { remove: true, runs: [], branches: [], records: false });
    expect([existsSync(path), existsSync(lock)]).toEqual([true, true]);
  });
});
