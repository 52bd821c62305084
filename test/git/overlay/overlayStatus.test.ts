import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { type OverlayCheckout, openOverlay } from "../../../src/git/overlay/overlayCheckout.ts";
import { isOverlayDirty } from "../../../src/git/overlay/overlayStatus.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { openOverlayMount } from "../../../src/process/overlay/overlayMount.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { seededRandom } from "../../helpers/seededRandom.ts";

interface Scene {
  readonly cwd: string;
  readonly overlay: OverlayCheckout;
  readonly worktree: { readonly path: string; readonly gitDirectory: string };
  readonly base: string;
}

const DIRECTORIES = ["a", "a/b", "c"];
const FILES = DIRECTORIES.flatMap((directory) => ["1", "2", "3"].map((name) => `${directory}/${name}`));

const addFiles = (cwd: string): void => {
  for (const directory of DIRECTORIES) mkdirSync(join(cwd, directory), { recursive: true });
  for (const path of FILES) writeFileSync(join(cwd, path), `${path}\n`);
  writeFileSync(join(cwd, ".gitignore"), "*.log\n");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", "Files");
};

/** Opens the overlay of a worktree at a commit of the repository, which is its latest. */
const openScene = async (cwd: string): Promise<Scene> => {
  const directory = temporaryDirectory();
  const path = join(directory, "worktree");
  git(cwd, "worktree", "add", "--quiet", "--no-checkout", "-b", `work-${directory.split("/").at(-1)}`, path);
  const gitDirectory = git(path, "rev-parse", "--absolute-git-dir");
  rmSync(join(gitDirectory, "index"), { force: true });
  const base = git(cwd, "rev-parse", "HEAD");
  const worktree = { path, gitDirectory };
  const open = Effect.flatMap(openRepository(cwd), (repository) =>
    openOverlay(repository, [], {
      directory: mkdtempSync(join(directory, "overlay-")),
      copyPath: join(directory, "copy"),
      commit: base,
      worktree,
    }),
  );
  return { cwd, overlay: await Effect.runPromise(open), worktree, base };
};

const newScene = (): Promise<Scene> => {
  const cwd = temporaryRepository();
  addFiles(cwd);
  return openScene(cwd);
};

/** Runs a script in the overlay as an agent would, with an index of its own, and moves the branch to its HEAD. */
const work = async ({ overlay, worktree }: Scene, script: string): Promise<string> => {
  const mount = await openOverlayMount(overlay.layers, worktree.path, { isWritable: true });
  const index = join(overlay.directory, "agent-index");
  try {
    const [program = "", ...args] = mount.inside([
      "sh",
      "-ec",
      `cd "$0"; [ -e "$GIT_INDEX_FILE" ] || git read-tree HEAD; ${script}`,
      worktree.path,
    ]);
    const env = {
      ...process.env,
      GIT_DIR: worktree.gitDirectory,
      GIT_INDEX_FILE: index,
      GIT_WORK_TREE: worktree.path,
    };
    execFileSync(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  } finally {
    await mount.close();
  }
  return git(worktree.path, "rev-parse", "HEAD");
};

const isDirty = ({ overlay, worktree }: Scene, tip: string): Promise<boolean> =>
  Effect.runPromise(isOverlayDirty(overlay, worktree, tip));

const dirtyAfter = async (scene: Scene, script: string): Promise<boolean> =>
  isDirty(scene, await work(scene, script));

const COMMIT = "git add --all; git commit --quiet --allow-empty -m Work";

// Each new repository waits for the second in which its files were written.
describeSideBySide("an overlay", () =>
  describeWith(["bubblewrap"], "its status", () => {
    it.each([
      ["no change", ":"],
      ["a committed change", `echo new > a/1; ${COMMIT}`],
      ["a committed deletion", `rm a/1; ${COMMIT}`],
      ["a directory that was made again, and committed", `rm -r a; mkdir a; echo new > a/new; ${COMMIT}`],
      [
        "a directory that was made again with the same files",
        "cp -r a copy; rm -r a; mkdir a; cp -r copy/. a; rm -r copy",
      ],
      ["a file in the place of a directory, committed", `rm -r a; echo file > a; ${COMMIT}`],
      ["a directory in the place of a file, committed", `rm a/1; mkdir a/1; echo x > a/1/x; ${COMMIT}`],
      ["ignored files", "echo x > a/x.log; mkdir logs; echo x > logs/x.log"],
      ["empty directories", "mkdir -p x/y; rm c/1; git checkout --quiet c/1"],
      ["many committed files", `mkdir many; for i in $(seq 300); do echo $i > many/$i; done; ${COMMIT}`],
      ["a committed name that is not UTF-8", `echo x > "$(printf 'a/\\377')"; ${COMMIT}`],
      ["a committed name that looks like a pattern", `echo x > 'a/*[x]'; echo x > ':(top)x'; ${COMMIT}`],
    ])("is clean after %s", async (_, script) => {
      expect(await dirtyAfter(await newScene(), script)).toBe(false);
    });

    it.each([
      ["a changed file", "echo new > a/1"],
      ["a change of the same size", "printf 'a/2\\n' > a/1"],
      ["a deleted file", "rm a/b/1"],
      ["a deleted directory", "rm -r a"],
      ["a directory that was made again", "rm -r a; mkdir a; echo a/1 > a/1"],
      [
        "a directory that was made again within one that was made again",
        "rm -r a; mkdir -p a/b; echo a/1 > a/1",
      ],
      ["a moved directory", "mv a moved"],
      ["two directories with the same names in them that changed places", "mv a/b x; mv c a/b; mv x c"],
      ["a new file in a new directory", "mkdir -p x/y; echo x > x/y/z"],
      ["a mode", "chmod +x c/1"],
      ["a link in the place of a file", "ln -sf 2 a/1"],
      ["a change after a commit", `echo new > a/1; ${COMMIT}; echo newer > a/1`],
      ["a commit of other files than those in the directory", `echo new > a/1; ${COMMIT}; echo a/1 > a/1`],
      [
        "a commit that was made without files",
        "git update-index --force-remove c/3; git commit --quiet -m Work",
      ],
      [
        "one change among many committed files",
        `mkdir many; for i in $(seq 300); do echo $i > many/$i; done; ${COMMIT}; rm c/2`,
      ],
      ["an uncommitted name that is not UTF-8", `echo x > "$(printf 'a/\\377')"`],
      ["a deletion beside a name that is not UTF-8", `echo x > "$(printf 'a/\\377')"; ${COMMIT}; rm c/2`],
      [
        "a committed file that is ignored now, and changed",
        `echo x > x.txt; ${COMMIT}; echo '*.txt' >> .gitignore; ${COMMIT}; echo y > x.txt`,
      ],
    ])("is dirty after %s", async (_, script) => {
      expect(await dirtyAfter(await newScene(), script)).toBe(true);
    });

    it("does not depend on how the kernel would mark moved directories", async () => {
      const { overlay, worktree } = await newScene();
      for (const isWritable of [true, false]) {
        const mount = await openOverlayMount(overlay.layers, worktree.path, { isWritable });
        const [program = "", ...args] = mount.inside(["cat", "/proc/self/mountinfo"]);
        const mounts = execFileSync(program, args, { encoding: "utf8" }).split("\n");
        await mount.close();
        expect(mounts.find((line) => line.includes(` ${worktree.path} `))).toContain("redirect_dir=nofollow");
      }
    });

    it("sees a change of the same size in the second in which the files were written", async () => {
      // Usually all of it happens in one second: once is enough.
      const inOneSecond = async () => {
        const scene = await newScene();
        const tip = await work(scene, "printf 'A/1\\n' > a/1");
        const second = Math.floor(Date.now() / 1000);
        await waitFor(() => Date.now() / 1000 > second + 1);
        return isDirty(scene, tip);
      };
      const all = await Promise.all([inOneSecond(), inOneSecond(), inOneSecond(), inOneSecond()]);
      expect(all).toEqual([true, true, true, true]);
    });

    it("compares with the tip, when the shared checkout is of another commit", async () => {
      const cwd = temporaryRepository();
      addFiles(cwd);
      await openScene(cwd);
      writeFileSync(join(cwd, "c/1"), "moved\n");
      rmSync(join(cwd, "c/2"));
      git(cwd, "commit", "--quiet", "--all", "-m", "Moved");
      const scene = await openScene(cwd);
      expect(scene.overlay.shared.commit).not.toBe(scene.base);
      expect(await isDirty(scene, scene.base)).toBe(false);
      expect(await dirtyAfter(scene, "echo c/1 > c/1")).toBe(true);
      expect(await dirtyAfter(scene, `${COMMIT}; git checkout --quiet HEAD~1 -- c/1`)).toBe(true);
    });

    it("is what git says of all files, after any sequence of changes", async () => {
      const random = seededRandom(21);
      const one = <A>(values: readonly A[]): A => values[random(values.length)] as A;
      const steps: readonly (() => string)[] = [
        () => `mkdir -p "$(dirname ${one(FILES)})" && echo ${random(3)} > ${one(FILES)} || :`,
        () => `rm -rf ${one([...FILES, ...DIRECTORIES])}`,
        () => `rm -rf ${one(DIRECTORIES)}; mkdir -p ${one(DIRECTORIES)}`,
        () => `mkdir -p n${random(2)} && echo x > n${random(2)}/x || :`,
        () => `rm -rf moved; mv ${one(DIRECTORIES)} moved || :`,
        () => `git checkout --quiet HEAD -- ${one([".", ...FILES])} || :`,
        () => COMMIT,
      ];
      const verdicts: boolean[] = [];
      for (let round = 0; round < 12; round++) {
        const scene = await newScene();
        for (let count = 0; count < 4; count++) {
          const script = Array.from({ length: 1 + random(3) }, () => one(steps)()).join("\n");
          const end = random(3) === 0 ? `${COMMIT}\n` : "";
          const tip = await work(
            scene,
            `(${script}\n) 2>/dev/null\n${end}git status --porcelain > ${scene.cwd}/said`,
          );
          const said = execFileSync("cat", [join(scene.cwd, "said")], { encoding: "utf8" });
          expect({ round, script, isDirty: await isDirty(scene, tip) }).toEqual({
            round,
            script,
            isDirty: said !== "",
          });
          verdicts.push(said !== "");
        }
      }
      expect(new Set(verdicts)).toEqual(new Set([true, false]));
    });
  }),
);
