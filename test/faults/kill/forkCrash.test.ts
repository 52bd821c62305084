import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import { bundle } from "../../helpers/bundle.ts";
import { startE2bServer } from "../../helpers/cloud/e2bServer.ts";
import { useE2bServer } from "../../helpers/cloud/useServers.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { useTcpRelay } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE, TEST_USER_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";
import { allSubjects } from "../clean/leftGit.ts";
import type { ForkOrder } from "./forkUntilKilled.ts";
import { killWhen, useProgram } from "./killedPrograms.ts";

const TIMEOUT_MS = 240_000;

const isHanging = ({ marks }: ForkOrder): boolean => existsSync(join(marks, "hangs"));

/** The original has one as well. */
const isCopyingGit = ({ cwd }: ForkOrder): boolean => {
  const runs = join(cwd, ".sanddune/runs");
  const directories = (existsSync(runs) ? readdirSync(runs) : []).map((run) => join(runs, run, "files"));
  const holdsGit = (path: string) => existsSync(join(path, "git")) || existsSync(join(path, "git-copy"));
  return directories.filter(holdsGit).length > 1;
};

for (const provider of ["bubblewrap", "docker"] as const) {
  describeWith([provider], `SIGKILL while a ${provider} sandbox is forked`, () => {
    const program = useProgram("forkUntilKilled.ts");

    it.each([
      ["the snapshot exists", undefined, isHanging],
      ["the git directory of a fork is copied", 1, isCopyingGit],
      ["a fork exists", 1, isHanging],
    ])(
      "when %s leaves only what clean finds and removes; the work of the original stays",
      async (_, complete, isReached) => {
        const [cwd, marks] = [temporaryRepository(), temporaryDirectory()];
        const order: ForkOrder = {
          ...{ cwd, marks, provider, image: TEST_IMAGE },
          ...(complete !== undefined && { complete }),
        };
        await killWhen(program(), { order, when: () => isReached(order) });
        const label = `label=sanddune.repository=${cwd}`;
        const things = (): string[] =>
          provider === "docker"
            ? [
                callClient("docker", "ps", "--all", "--quiet", "--filter", label),
                callClient("docker", "image", "ls", "--all", "--quiet", "--filter", label),
              ]
            : [];
        if (provider === "docker") {
          onTestFinished(() => {
            const [containers = "", images = ""] = things();
            if (containers) callClient("docker", "rm", "--force", ...containers.split("\n"));
            if (images) callClient("docker", "image", "rm", "--force", ...images.split("\n"));
          });
          expect(things().every((found) => found !== "")).toBe(true);
        }
        const repository = await findRepository(cwd);
        const options = { remove: true, runs: [], branches: [], records: false };
        const outcomes = await cleanUp(repository, options);
        expect(outcomes.filter(({ outcome }) => outcome === "failed")).toEqual([]);
        expect(things()).toEqual(things().map(() => ""));
        expect(allSubjects(cwd)).toContain("Work");
        const stashes = git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune/runs");
        expect(stashes.match(/\/stash-/g)).toHaveLength(1);
        // Only the original has uncommitted work.
        expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(2);
        expect(git(cwd, "for-each-ref", "--format=%(refname:short)", "refs/heads/agent")).toBe("agent/work");
        expect(leftovers(cwd).filter((item) => item.startsWith("runs/"))).toEqual([]);
        const again = await cleanUp(repository, options);
        expect(again.filter(({ outcome }) => outcome === "removed")).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
}

/** The ids of what docker lists for a repository. */
const listed = (cwd: string, ...list: readonly string[]): string[] =>
  callClient("docker", ...list, "--all", "--quiet", "--filter", `label=sanddune.repository=${cwd}`)
    .split("\n")
    .filter(Boolean);
const imagesOf = (cwd: string) => listed(cwd, "image", "ls");
const containersOf = (cwd: string) => listed(cwd, "ps");

describeWith(["docker"], "SIGKILL when docker sandboxes are forked", () => {
  const program = useProgram("forkUntilKilled.ts");
  const relay = useTcpRelay();
  const removeContainers = (cwd: string): void => {
    const ids = containersOf(cwd);
    if (ids.length > 0) callClient("docker", "rm", "--force", ...ids);
  };
  const clean = async (cwd: string, remove = true) =>
    cleanUp(await findRepository(cwd), { remove, runs: [], branches: [], records: false });

  it.each([
    ["on this machine", TEST_IMAGE, () => undefined],
    ["on another machine", TEST_USER_IMAGE, () => relay().address],
  ])(
    "clean finds the image of forks %s whose containers were removed without sanddune",
    async (_, image, hostOf) => {
      const [cwd, marks] = [temporaryRepository(), temporaryDirectory()];
      const host = hostOf();
      const order: ForkOrder = {
        ...{ cwd, marks, provider: "docker", image, complete: 3 },
        ...(host !== undefined && { host }),
      };
      onTestFinished(() => {
        removeContainers(cwd);
        const images = imagesOf(cwd);
        if (images.length > 0) callClient("docker", "image", "rm", "--force", ...images);
      });
      await killWhen(program(), { order, when: () => existsSync(join(marks, "forked")) });
      expect(imagesOf(cwd)).toHaveLength(1);
      const ofSnapshot = {
        what: "snapshot",
        name: expect.stringContaining("docker image sanddune-snapshot:"),
      };
      expect(await clean(cwd, false)).toContainEqual(
        expect.objectContaining({
          ...{ ...ofSnapshot, outcome: "kept" },
          keptBecause: expect.stringContaining("a sandbox that was started from it still exists"),
        }),
      );
      removeContainers(cwd);
      expect(await clean(cwd)).toContainEqual(expect.objectContaining({ ...ofSnapshot, outcome: "removed" }));
      expect(imagesOf(cwd)).toEqual([]);
      expect((await clean(cwd)).filter(({ what }) => what === "snapshot")).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe("SIGKILL while an E2B sandbox is forked", () => {
  const server = useE2bServer();
  /** It finds the SDK beside itself. */
  const programWithSdk = (): string => {
    const directory = temporaryDirectory();
    symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(directory, "node_modules"));
    return bundle(join(import.meta.dirname, "forkUntilKilled.ts"), directory);
  };

  it(
    "leaves a snapshot, which never ends: clean keeps it while the account is another one, and removes it",
    async () => {
      const [cwd, marks] = [temporaryRepository(), temporaryDirectory()];
      const order: ForkOrder = { cwd, marks, provider: "e2b", image: "", complete: 1 };
      await killWhen(programWithSdk(), { order, when: () => existsSync(join(marks, "hangs")) });
      const { snapshots, sandboxes } = server.current;
      expect(snapshots.size).toBe(1);
      const repository = await findRepository(cwd);
      const clean = async () => {
        const all = await cleanUp(repository, { remove: true, runs: [], branches: [], records: false });
        return all.filter(({ what }) => what === "snapshot");
      };
      const other = await startE2bServer();
      onTestFinished(() => other.close());
      for (const [name, value] of Object.entries(other.env)) vi.stubEnv(name, value);
      expect(await clean()).toMatchObject([
        { outcome: "kept", keptBecause: expect.stringContaining("made with another E2B account") },
      ]);
      for (const [name, value] of Object.entries(server.current.env)) vi.stubEnv(name, value);
      expect(await clean()).toMatchObject([{ outcome: "removed" }]);
      expect(snapshots.size).toBe(0);
      expect(await clean()).toEqual([]);
      // Only that of the original may hold work that is nowhere else.
      expect(sandboxes.size).toBe(1);
    },
    TIMEOUT_MS,
  );
});
