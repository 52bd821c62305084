import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { meetingPoint, play, SANDBOXES, STRATEGIES, shell } from "../support.ts";
import { fireOnHost } from "./gitPayloads.ts";

/** A submodule of the agent in `directory`, whose settings run a program as soon as git looks into it. */
const plant = (directory: string, fire: string): string =>
  [
    `d=$(/usr/bin/printf '${directory}')`,
    'mkdir -p "$d"; git init --quiet "$d"',
    '(cd "$d" && git config user.name Evil && git config user.email e@example.com && git commit --quiet --allow-empty -m x',
    `git config core.fsmonitor ${shellQuote(`${fire}; :`)})`,
    'git add --force "$d"; git commit --quiet -m Submodule',
  ].join("\n");

const prepare = (cwd = temporaryRepository()) => {
  const canaries = temporaryDirectory();
  return { cwd, fire: fireOnHost(join(canaries, "fired")), fired: () => readdirSync(canaries) };
};

const status = (cwd: string): void => {
  try {
    execFileSync("git", ["status"], { cwd, stdio: "ignore" });
  } catch {
    // Whether it succeeds is not the question.
  }
};

const DISGUISES: [string, (fire: string) => string][] = [
  [
    "directories of all kinds",
    (fire) =>
      [
        plant("sub", fire),
        plant("sub\\377", fire),
        plant("sub\\nx", fire),
        plant(`${"deep/".repeat(50)}sub`, fire),
        plant("taken", fire),
        `mkdir -p "$d/.git.\${SANDDUNE_SANDBOX%%-recovery}/x" "$d/.git.sanddune-\${SANDDUNE_SANDBOX#sanddune-}/x"`,
      ].join("\n"),
  ],
  ["a directory that is called like sanddune's own", (fire) => plant(".sanddune/sub", fire)],
  [
    "several, of which the first cannot be renamed",
    (fire) => `${plant("a", fire)}
mkdir -p "$d/.git.\${SANDDUNE_SANDBOX}/x"
${plant("b", fire)}`,
  ],
];

describeWith(["bubblewrap"], "a submodule of the agent in", () => {
  it.each(DISGUISES)("%s does not run for the user in a kept worktree", async (_, script) => {
    const { cwd, fire, fired } = prepare();
    const ending = await play(cwd, [shell(script(fire)), shell("echo open > open.txt")], {
      branchStrategy: STRATEGIES.branch,
    }).catch((error: unknown) => error as { preservedWorktreePath?: string });
    status(ending.preservedWorktreePath as string);
    expect(fired()).toEqual([]);
  });

  it.each(DISGUISES)("%s does not run for the user in the checkout of a head run", async (_, script) => {
    const { cwd, fire, fired } = prepare();
    await play(cwd, [shell(script(fire))]).catch(() => undefined);
    status(cwd);
    expect(fired()).toEqual([]);
  });

  it("a linked worktree of the user does not run for the user after a head run there", async () => {
    const linked = join(temporaryDirectory(), "linked");
    git(temporaryRepository(), "worktree", "add", "--quiet", "-b", "linked", linked);
    const { cwd, fire, fired } = prepare(linked);
    await play(cwd, [shell(plant("sub", fire))]);
    status(cwd);
    expect(fired()).toEqual([]);
  });

  it("a checkout does not run while the agent is still running, when the user's editor asks for the status", async () => {
    const { cwd, fire, fired } = prepare();
    const { sandboxes, wait, meet } = meetingPoint();
    const running = play(cwd, ({ iteration }) => (iteration === 1 ? [shell(plant("sub", fire))] : [wait]), {
      sandbox: sandboxes.bubblewrap(),
      maxIterations: 2,
    });
    await meet(() => status(cwd));
    await running.catch(() => undefined);
    expect(fired()).toEqual([]);
  });

  it("a worktree that a crash left behind is not trusted by the next run", async () => {
    const { cwd, fire, fired } = prepare();
    const options = { branchStrategy: STRATEGIES.branch };
    const { preservedWorktreePath } = await play(
      cwd,
      [shell(plant("sub", fire)), shell("echo open > open.txt")],
      options,
    );
    const sub = join(preservedWorktreePath as string, "sub");
    // As it was before the run came to an end.
    for (const name of readdirSync(sub).filter((entry) => entry.startsWith(".git.sanddune"))) {
      renameSync(join(sub, name), join(sub, ".git"));
    }
    for (const name of readdirSync(join(sub, ".git")).filter((entry) => entry.startsWith("HEAD.sanddune"))) {
      renameSync(join(sub, ".git", name), join(sub, ".git/HEAD"));
    }
    const next = await play(cwd, [shell("echo more >> open.txt")], options);
    status(next.preservedWorktreePath as string);
    expect(fired()).toEqual([]);
  });
});

describeWith(["bubblewrap"], "a checkout path that looks like a pattern", () => {
  it("hides neither the agent's repositories nor shows the host's .git", async () => {
    const cwd = join(temporaryDirectory(), "brackets[1]", "star*star", "question?", "back\\slash");
    mkdirSync(dirname(cwd), { recursive: true });
    renameSync(temporaryRepository(), cwd);
    const { fire, fired } = prepare(cwd);
    git(cwd, "config", "http.extraheader", "AUTHORIZATION: s3cr3t");
    const result = await play(cwd, [
      shell(
        "grep -r s3cr3t .git > leak.txt",
        plant("star", fire),
        plant("question", fire),
        plant("sub", fire),
      ),
      { commit: "Work" },
    ]);
    status(cwd);
    expect(fired()).toEqual([]);
    expect(git(cwd, "show", `${result.branch}:leak.txt`)).toBe("");
    const kept = await play(cwd, [shell("echo open > open.txt")], { branchStrategy: STRATEGIES.branch });
    expect(
      git(kept.preservedWorktreePath as string, "status", "--porcelain", "--ignore-submodules=all"),
    ).toBe("?? open.txt");
  });
});

describeWith(["bubblewrap"], "the user's own submodules", () => {
  it("do not show the credentials in their settings to the agent", async () => {
    const cwd = temporaryRepository();
    git(
      cwd,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      temporaryRepository(),
      "library",
    );
    git(cwd, "commit", "--quiet", "-m", "Submodule");
    git(
      join(cwd, "library"),
      "remote",
      "set-url",
      "origin",
      "https://user:s3cr3t-token@example.invalid/library.git",
    );
    for (const strategy of ["head", "branch"] as const) {
      await play(
        cwd,
        [
          shell(
            "grep -rs s3cr3t-token . /sanddune/git > /tmp/leak; cp /tmp/leak leak.txt; git add leak.txt; git commit --quiet -m Leak",
          ),
        ],
        {
          branchStrategy: STRATEGIES[strategy],
        },
      );
      expect(git(cwd, "show", `${strategy === "head" ? "main" : "agent/work"}:leak.txt`)).toBe("");
    }
  });
});

describeWith(["bubblewrap"], "an isolated run over a kept worktree", () => {
  it("runs nothing of the repositories that an agent has made in it", async () => {
    const { cwd, fire, fired } = prepare();
    const options = { branchStrategy: STRATEGIES.branch };
    await play(cwd, [shell(plant("sub\\377", fire)), shell("echo open > open.txt")], options);
    const next = await play(cwd, [shell("echo more >> open.txt")], {
      ...options,
      sandbox: SANDBOXES.isolated(),
    });
    status(next.preservedWorktreePath as string);
    expect(fired()).toEqual([]);
  });
});

describeWith(["bubblewrap"], "a repository of the user in the checkout", () => {
  const add = {
    "a repository": (cwd: string) => git(cwd, "init", "--quiet", "nested"),
    "a submodule": (cwd: string) =>
      git(cwd, ...["-c", "protocol.file.allow=always", "submodule"], "add", temporaryRepository(), "nested"),
  };

  it.each([
    ["a repository", `git config -f former/.git/config core.fsmonitor "$FIRE"`, "mkdir nested/.git"],
    ["a submodule", "echo gitdir: ../elsewhere > former/.git", "touch nested/.git"],
    ["a submodule", "echo gitdir: ../elsewhere > former/.git", "rmdir nested"],
  ] as const)(
    "cannot be written by a command after one that has moved it: %s",
    async (kind, write, replace) => {
      const { cwd, fire, fired } = prepare();
      add[kind](cwd);
      git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Nested");
      const pointer = join(cwd, "nested/.git", kind === "a submodule" ? "" : "config");
      const script = `FIRE=${shellQuote(`${fire}; :`)}
if [ -d former ]; then ${write}; mv nested other; mv former nested
else mv nested former && mkdir nested && ${replace}; fi`;
      const attack = run({
        agent: scripted([{ shell: script }]),
        ...{ sandbox: bubblewrap(), cwd, prompt: "x", maxIterations: 2 },
        branchStrategy: { type: "head" },
      });
      const before = readFileSync(pointer, "utf8");
      await expect(attack).rejects.toThrow("a command has moved or replaced");
      const names = ["nested", "former"].filter((name) => existsSync(join(cwd, name)));
      const found = names.flatMap((name) =>
        readdirSync(join(cwd, name))
          .filter((entry) => entry.startsWith(".git"))
          .map((entry) => join(cwd, name, entry)),
      );
      const texts = found.map((path) => (statSync(path).isFile() ? path : join(path, "config")));
      expect(texts.filter(existsSync).map((path) => readFileSync(path, "utf8"))).toContain(before);
      for (const name of names) status(join(cwd, name));
      expect(fired()).toEqual([]);
    },
  );
});
