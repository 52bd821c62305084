import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EmbeddedRepositoryError, type ScriptedStep } from "../../../src/index.ts";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { asUser, canaries, EVERY_DAY } from "../lasting/lasting.ts";
import { meetingPoint, play, SANDBOXES, STRATEGIES, shell, worktreesOf } from "../support.ts";
import { ALL_PAYLOADS, PAYLOAD_GROUPS } from "./gitPayloads.ts";

const GROUPS = PAYLOAD_GROUPS.map(
  (group) => [`${group.names.length} payloads such as ${group.names[0]}`, group] as const,
);

/** A repository, and a place for canaries that no sandbox sees. */
const prepare = () => ({ cwd: temporaryRepository(), ...canaries() });

/** The agent plants everything in each of two iterations, commits, and leaves changes. */
const plants =
  (script: string) =>
  ({ iteration }: { readonly iteration: number }): ScriptedStep[] => [
    shell(script),
    { commit: `Commit ${iteration}`, files: { [`work-${iteration}.txt`]: "verbatim $Id$\r\nend" } },
    shell("echo dirty > uncommitted.txt; echo more >> README.md"),
  ];

/** One of the payloads is a bare repository, so that merge-to-head leaves it to the user to merge them. */
const mergedByUser = (cwd: string, running: Promise<unknown>): Promise<unknown> =>
  running.catch((error: unknown) => {
    if (!(error instanceof EmbeddedRepositoryError)) throw error;
    asUser(cwd, `git merge --quiet --no-edit ${error.sourceBranch}`);
  });

it.each(GROUPS)("control: each of %s runs where it is planted in the user's own repository", (_, group) => {
  const { cwd, fire, fired } = prepare();
  asUser(cwd, group.plant(fire));
  asUser(cwd, group.trigger);
  expect(fired()).toEqual([...group.names].sort());
});

describeWith(["bubblewrap"], "planted by an agent", () => {
  it("no payload runs on the host: not for the user in a kept worktree, not when that is reused by any kind of sandbox, not after a merge", async () => {
    const { cwd, fire, fired } = prepare();
    const branchStrategy = STRATEGIES.branch;
    const first = await play(cwd, plants(ALL_PAYLOADS.plant(fire)), { branchStrategy, maxIterations: 2 });
    expect(git(cwd, "cat-file", "blob", "agent/work:work-1.txt")).toBe("verbatim $Id$\r\nend");
    const kept = first.preservedWorktreePath as string;
    asUser(cwd, EVERY_DAY);
    asUser(kept, EVERY_DAY);
    await play(cwd, [shell("echo more >> uncommitted.txt")], {
      branchStrategy,
      sandbox: SANDBOXES.isolated(),
    });
    asUser(kept, `${EVERY_DAY}; git add --all; git commit -m Mine; git checkout HEAD~1 -- README.md`);
    expect(fired()).toEqual([]);
    const last = await play(cwd, [shell("git add --all"), { commit: "Tidy up" }], { branchStrategy });
    expect(last.commits.length).toBeGreaterThanOrEqual(1);
    asUser(cwd, `${EVERY_DAY}; git merge --quiet --no-edit agent/work; ${EVERY_DAY}`);
    expect(fired()).toEqual([]);
  });

  it("no payload runs on the host in the user's own checkout, or when it is merged", async () => {
    const { cwd, fire, fired } = prepare();
    for (const branchStrategy of [STRATEGIES["merge-to-head"], STRATEGIES.head]) {
      const running = play(cwd, plants(ALL_PAYLOADS.plant(fire)), { branchStrategy, maxIterations: 2 });
      await mergedByUser(cwd, running);
      asUser(cwd, EVERY_DAY);
    }
    expect(fired()).toEqual([]);
    expect(git(cwd, "show", "main:work-2.txt")).toContain("verbatim");
  });
});

it.each([
  ["merge-to-head", "main"],
  ["branch", "agent/work"],
] as const)(
  "no payload runs on the host when it is planted in an isolated sandbox, with %s",
  async (strategy, branch) => {
    const { cwd, fire, fired } = prepare();
    const running = play(cwd, plants(ALL_PAYLOADS.plant(fire)), {
      branchStrategy: STRATEGIES[strategy],
      maxIterations: 2,
      sandbox: SANDBOXES.isolated(),
    });
    await mergedByUser(cwd, running);
    for (const path of worktreesOf(cwd)) asUser(path, EVERY_DAY);
    expect(fired()).toEqual([]);
    expect(git(cwd, "show", `${branch}:work-2.txt`)).toContain("verbatim");
  },
);

describeWith(["bubblewrap"], "repositories inside a checkout that a head run works in", () => {
  /** Puts a git directory of the agent where the user's own `.git` file was. */
  const replaceGitFile = (directory: string, fire: string) =>
    shell(
      `rm -f ${directory}/.git && git init --quiet ${directory} && cd ${directory} && git config user.name Evil && git config user.email e@example.com`,
      "git add . && git commit --quiet -m Evil",
      `git config core.fsmonitor ${shellQuote(`${fire}; :`)}`,
    );

  it("a submodule of the user cannot be turned against them", async () => {
    const { cwd, fire, fired } = prepare();
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
    const before = readFileSync(join(cwd, "library/.git"), "utf8");
    await play(cwd, [replaceGitFile("library", fire("submodule"))]);
    asUser(cwd, EVERY_DAY);
    expect(fired()).toEqual([]);
    expect(readFileSync(join(cwd, "library/.git"), "utf8")).toBe(before);
  });

  it("a linked worktree of the user cannot be turned against them", async () => {
    const { cwd, fire, fired } = prepare();
    git(cwd, "worktree", "add", "--quiet", "-b", "linked", "linked");
    const before = readFileSync(join(cwd, "linked/.git"), "utf8");
    await play(cwd, [replaceGitFile("linked", fire("linked"))]);
    asUser(join(cwd, "linked"), EVERY_DAY);
    expect(fired()).toEqual([]);
    expect(readFileSync(join(cwd, "linked/.git"), "utf8")).toBe(before);
  });
});

it("the user's own signing still works for the merge commit", async () => {
  const cwd = temporaryRepository();
  const tools = temporaryDirectory();
  const program = join(tools, "gpg");
  writeFileSync(
    program,
    `#!/bin/sh\ncat > /dev/null\necho signed >> ${tools}/used\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\necho '-----BEGIN PGP SIGNATURE-----\n\nmine\n-----END PGP SIGNATURE-----'\n`,
  );
  chmodSync(program, 0o755);
  git(cwd, "config", "gpg.program", program);
  git(cwd, "config", "commit.gpgsign", "true");
  const { sandboxes, wait, meet } = meetingPoint();
  const running = play(cwd, [wait, { commit: "Agent", files: { "agent.txt": "a\n" } }], {
    branchStrategy: STRATEGIES["merge-to-head"],
    sandbox: sandboxes.isolated(),
  });
  await meet(
    () => void git(cwd, "-c", "commit.gpgsign=false", "commit", "--quiet", "--allow-empty", "-m", "User"),
  );
  await running;
  expect(readFileSync(join(tools, "used"), "utf8")).toBe("signed\n");
  expect(git(cwd, "cat-file", "commit", "main")).toMatch(/^gpgsig -----BEGIN PGP SIGNATURE-----$/m);
});
