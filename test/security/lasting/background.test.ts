import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { shell } from "../support.ts";
import {
  asUser,
  BRANCH,
  canaries,
  commitAsUser,
  EVERY_DAY,
  ending,
  openSandbox,
  openWorktree,
  playIn,
  subjects,
} from "./lasting.ts";

const inDocker = () => docker({ imageName: TEST_IMAGE });

/** A container and a directory that host and container both see, at the same path. */
const sharedDocker = () => {
  const directory = temporaryDirectory();
  const mounts = [{ hostPath: directory, sandboxPath: directory }];
  return { directory, sandbox: docker({ imageName: TEST_IMAGE, mounts }) };
};

/** A script that goes on when the command that starts it is over: everywhere but in bubblewrap. */
const inBackground = (script: string): string => `cat > /tmp/background <<'END'
${script}
END
setsid nohup sh /tmp/background >/dev/null 2>&1 &`;

describeWith(["docker", "bubblewrap"], "what run 1 has left running in a container", () => {
  it("cannot lead sanddune to a repository outside of the worktree, by exchanging directories", async () => {
    const cwd = temporaryRepository();
    const outside = temporaryRepository();
    const sandbox = await openSandbox(cwd, { sandbox: inDocker() });
    const exchange = `cd /sanddune/repo
for number in $(seq 1 100); do mkdir -p z/$number/a/b/c/d/e/f; done
git init -q real; ln -s ${outside} link
while true; do mv -T real d; mv -T d real; mv -T link d; mv -T d link; [ -e real/.git ] || git init -q real; done`;
    await playIn(sandbox, shell(inBackground(exchange)));
    for (let attempt = 0; attempt < 25; attempt++) await sandbox.exec("true");
    await sandbox.close();
    expect(readdirSync(outside).sort()).toEqual([".git", "README.md"]);
  });

  it("does not run for the user by way of a submodule, whatever else is done in the worktree", async () => {
    const cwd = temporaryRepository();
    const { fire, fired } = canaries();
    const worktree = await openWorktree(cwd);
    const sandbox = await worktree.createSandbox({ sandbox: inDocker() });
    const restore = `cd /sanddune/repo; while true; do [ -e sub/.git ] || cp -r /tmp/keep sub/.git; sleep 0.02; done`;
    await playIn(
      sandbox,
      shell(
        "git init -q sub; git -C sub -c user.name=E -c user.email=e@example.com commit -q --allow-empty -m x",
        `git -C sub config core.fsmonitor '${fire("sub")}; :'; cp -r sub/.git /tmp/keep`,
        "git add sub; git commit -q -m Sub",
        inBackground(restore),
      ),
    );
    const lookAround = async () => {
      await waitFor(() => existsSync(join(worktree.worktreePath, "sub/.git")));
      asUser(worktree.worktreePath, EVERY_DAY);
    };
    await lookAround();
    await worktree.run({ sandbox: bubblewrap(), agent: scripted([{ text: "Hello." }]), prompt: "Work" });
    await lookAround();
    await (await worktree.createSandbox({ sandbox: bubblewrap() })).close();
    await lookAround();
    await sandbox.close();
    asUser(worktree.worktreePath, EVERY_DAY);
    await worktree.close();
    asUser(existsSync(worktree.worktreePath) ? worktree.worktreePath : cwd, EVERY_DAY);
    expect(fired()).toEqual([]);
  });

  it("cannot put its own entry in the place of the worktree's .git", async () => {
    const cwd = temporaryRepository();
    const { fire, fired } = canaries();
    const sandbox = await openSandbox(cwd, { sandbox: inDocker() });
    const before = readFileSync(join(sandbox.worktreePath, ".git"), "utf8");
    const attack = `cd /sanddune/repo; git init -q evil; git -C evil config core.fsmonitor '${fire("git")}; :'
for try in $(seq 1 50); do mv -T .git away; rm -rf .git; ln -s evil/.git .git; mv -T evil/.git .git; done; touch tried`;
    await playIn(sandbox, shell(inBackground(attack)));
    await waitFor(() => existsSync(join(sandbox.worktreePath, "tried")));
    asUser(sandbox.worktreePath, EVERY_DAY);
    expect(readFileSync(join(sandbox.worktreePath, ".git"), "utf8")).toBe(before);
    expect(fired()).toEqual([]);
  });

  it("loses no commit: what it commits between calls, during calls and before close() is on the branch", async () => {
    const cwd = temporaryRepository();
    const { sandbox: provider, directory } = sharedDocker();
    const sandbox = await openSandbox(cwd, { sandbox: provider });
    const commit = (name: string) =>
      `until [ -e ${directory}/${name} ]; do sleep 0.02; done; git commit -q --allow-empty -m ${name}; touch ${directory}/${name}-done`;
    await playIn(
      sandbox,
      shell(inBackground(`cd /sanddune/repo; ${["between", "during", "last"].map(commit).join("; ")}`)),
    );
    const letIt = async (name: string) => {
      writeFileSync(join(directory, name), "");
      await waitFor(() => existsSync(join(directory, `${name}-done`)));
    };
    await letIt("between");
    const hold = `until [ -e ${directory}/go ]; do sleep 0.02; done`;
    const running = sandbox.exec(hold);
    await letIt("during");
    writeFileSync(join(directory, "go"), "");
    await running;
    await letIt("last");
    await sandbox.close();
    expect(subjects(cwd, BRANCH)).toEqual(["last", "during", "between", "Initial commit"]);
  });

  it("and the user, who both commit between calls: neither's commit is lost, and the user's is on the branch", async () => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd, { sandbox: inDocker() });
    await playIn(sandbox, { commit: "One" });
    await playIn(
      sandbox,
      shell(
        inBackground(
          "cd /sanddune/repo; sleep 0.3; git commit -q --allow-empty -m Background; touch /tmp/done",
        ),
      ),
    );
    commitAsUser(sandbox.worktreePath, "User");
    await ending(sandbox.exec("until [ -e /tmp/done ]; do sleep 0.02; done"));
    await ending(sandbox.exec("until [ -e /tmp/done ]; do sleep 0.02; done"));
    await sandbox.close();
    expect(subjects(cwd, BRANCH)).toEqual(expect.arrayContaining(["User", "One"]));
    const everywhere = git(cwd, "log", "--all", "--format=%s").split("\n");
    expect(everywhere).toEqual(expect.arrayContaining(["User", "One", "Background"]));
  });
});
