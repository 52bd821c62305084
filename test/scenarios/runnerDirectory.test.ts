import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { ownIdentity } from "../../src/process/processIdentity.ts";
import { openRunnerDirectory, removeDeadRunners } from "../../src/scenarios/runnerDirectory.ts";
import { temporaryDirectory } from "../helpers/repository.ts";

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

it("what a dead runner has left is removed, and what a living one has is not", async () => {
  const directory = plant();
  const living = await openRunnerDirectory();
  mkdirSync(join(directory, "sanddune-scenarios-dead/project"), { recursive: true });
  writeFileSync(join(directory, "sanddune-scenarios-dead/owner.json"), DEAD);
  await removeDeadRunners();
  expect(readdirSync(directory)).toEqual([`sanddune-scenarios-${living.runId}`]);
  await living.remove();
  expect(readdirSync(directory)).toEqual([]);
});

it("a directory that somebody wants to look at stays", async () => {
  plant();
  const kept = await openRunnerDirectory();
  await kept.keep();
  await removeDeadRunners();
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
  await removeDeadRunners();
  expect(readdirSync(victim).sort()).toEqual(["owner.json", "precious"]);
  expect(readdirSync(directory)).toEqual(["sanddune-scenarios-planted"]);
});
