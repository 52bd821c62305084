import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSandbox, createWorktree, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { play, SANDBOXES, STRATEGIES, shell } from "../support.ts";

const modeOf = (...path: string[]): string => (statSync(join(...path)).mode & 0o7777).toString(8);

/** Programs that give their owner's rights away, wherever they are. */
const PLANT = shell(
  "mkdir -p deep/down .hidden ignored; echo '*' > ignored/.gitignore",
  "for path in x deep/down/x .hidden/x ignored/x '-x'; do cp /bin/true ./$path; chmod 4755 ./$path; done",
  "cp /bin/true group; chmod 2755 group; cp /bin/true both; chmod 6711 both",
  "git init --quiet nested; cp -p x nested/.git/x",
);
const PLANTED = ["x", "deep/down/x", ".hidden/x", "ignored/x", "-x", "group"];

const expectHarmless = (path: string): void => {
  for (const name of PLANTED) expect([name, modeOf(path, name)]).toEqual([name, "755"]);
  expect(modeOf(path, "both")).toBe("711");
  expect(readFileSync(join(path, "x"))).toEqual(readFileSync("/bin/true"));
};

describeWith(["bubblewrap"], "set-uid programs that an agent leaves", () => {
  it("are ordinary ones in a worktree that is kept, which a warning says", async () => {
    const { preservedWorktreePath, warnings } = await play(temporaryRepository(), [PLANT], {
      branchStrategy: STRATEGIES.branch,
    });
    expectHarmless(preservedWorktreePath as string);
    expect(warnings.join("\n")).toMatch(/set-uid, set-gid.*and 3 more\. Those permissions were removed\./);
  });

  it("are ordinary ones when a run fails, and its worktree is kept", async () => {
    const cwd = temporaryRepository();
    const error = await play(cwd, [PLANT, { exit: 1 }], { branchStrategy: STRATEGIES.branch }).catch(
      (reason: unknown) => reason as { preservedWorktreePath: string },
    );
    expectHarmless(error.preservedWorktreePath as string);
  });

  it("are ordinary ones in the checkout of a head run, where the user's own are as they were", async () => {
    const cwd = temporaryRepository();
    for (const name of ["mine", "changed"]) {
      writeFileSync(join(cwd, name), "");
      chmodSync(join(cwd, name), 0o4755);
    }
    await play(cwd, [PLANT, shell("chmod 755 changed; cat /bin/sh > changed; chmod 4755 changed")]);
    expectHarmless(cwd);
    expect(modeOf(cwd, "mine")).toBe("4755");
    expect(modeOf(cwd, "changed")).toBe("755");
  });

  it("are ordinary ones between the calls of a worktree, and of a sandbox, that lasts", async () => {
    const cwd = temporaryRepository();
    await using worktree = await createWorktree({ cwd, branchStrategy: STRATEGIES.branch });
    await worktree.run({ agent: scripted([PLANT]), sandbox: bubblewrap(), prompt: "x" });
    expectHarmless(worktree.worktreePath);
    await using sandbox = await createSandbox({ cwd, branch: "other", sandbox: bubblewrap() });
    await sandbox.exec("cp /bin/true x; chmod 4755 x");
    expect(modeOf(sandbox.worktreePath, "x")).toBe("755");
  });
});

it("what runs write is closed to other accounts, also where an earlier version left it open", async () => {
  const cwd = temporaryRepository();
  const parts = ["worktrees", "runs", "logs"].map((part) => join(cwd, ".sanddune", part));
  for (const part of parts) mkdirSync(part, { recursive: true, mode: 0o755 });
  for (const branch of ["one", "two"]) {
    await play(cwd, [shell("echo 1 > open.txt")], {
      branchStrategy: { type: "branch", branch },
      sandbox: SANDBOXES.isolated(),
    });
  }
  expect(parts.map((part) => modeOf(part))).toEqual(["700", "700", "700"]);
});
