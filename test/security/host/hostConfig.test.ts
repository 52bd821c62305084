import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime } from "../../helpers/runtimes/runtimes.ts";
import { atTerminal } from "../agent/atTerminal.ts";
import type { Act, Place } from "../agent/hostSessions.ts";

const COMMIT = "git commit --quiet --allow-empty -m Work";

/** A home of the user, with settings of git's in all the places that git knows. */
const homeOfUser = () => {
  const home = temporaryDirectory();
  const files = [join(home, ".gitconfig"), join(home, ".config/git/config"), join(home, "elsewhere")];
  mkdirSync(join(home, ".config/git"), { recursive: true });
  for (const file of files) writeFileSync(file, "[user]\n\tname = Dev\n\temail = dev@example.com\n");
  return { home, files };
};

/** The bytes of a file, and when they were written. */
const stateOf = (path: string) => ({ bytes: readFileSync(path, "latin1"), modified: statSync(path).mtimeMs });

const PLACES: [Place, Runtime[]][] = [
  ["none", ["tmux", "bubblewrap"]],
  ["bubblewrap", ["tmux", "bubblewrap"]],
  ["docker", ["tmux", "docker"]],
];

const actsIn = (place: Place): Act[] => [
  { kind: "interactive", script: COMMIT, place },
  { kind: "run", script: COMMIT, place },
];

for (const [place, runtimes] of PLACES) {
  describeWith(runtimes, `the user's git settings, with sessions in ${place}`, () => {
    it("stay as they are, byte for byte, after an interactive session and a run in a worktree that is merged", async () => {
      const cwd = temporaryRepository();
      const { home, files } = homeOfUser();
      const all = [...files, join(cwd, ".git/config")];
      const before = all.map(stateOf);
      const entries = readdirSync(home);
      const scene = { cwd, branchStrategy: { type: "merge-to-head" }, acts: actsIn(place) } as const;
      const results = await atTerminal(scene, { HOME: home }).outcomes();
      expect(results[0]).toMatchObject({ exitCode: 0, commits: [expect.anything()] });
      expect(results[1]).toMatchObject({ commits: [expect.anything()] });
      expect(all.map(stateOf)).toEqual(before);
      expect(readdirSync(home).filter((name) => name.startsWith(".git"))).toEqual(
        entries.filter((name) => name.startsWith(".git")),
      );
    });
  });
}

describeWith(
  ["tmux", "bubblewrap"],
  "the user's git settings, with sessions in the user's own checkout",
  () => {
    it("stay as they are where GIT_CONFIG_GLOBAL names them", async () => {
      const cwd = temporaryRepository();
      const { home, files } = homeOfUser();
      const all = [...files, join(cwd, ".git/config")];
      const before = all.map(stateOf);
      const settings = { HOME: home, GIT_CONFIG_GLOBAL: join(home, "elsewhere") };
      const results = await atTerminal({ cwd, acts: actsIn("none") }, settings).outcomes();
      expect(results).toMatchObject([{ exitCode: 0 }, { branch: "main" }]);
      expect(all.map(stateOf)).toEqual(before);
    });
  },
);
