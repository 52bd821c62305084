import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, play, STRATEGIES, shell } from "../support.ts";

needsRuntimes("bubblewrap");

const NAME = "HOST_ONLY_KEY";
const VALUE = "value-that-the-host-keeps";
afterEach(() => {
  delete process.env[NAME];
});

/** What the agent of the next run gets to see of a variable that nobody has declared on the user's behalf. */
const seenByNextRun = async (cwd: string): Promise<string> => {
  process.env[NAME] = VALUE;
  await play(cwd, [shell(`echo "\${${NAME}-unset}" > seen.txt`), { commit: "Report" }], {
    branchStrategy: STRATEGIES.branch,
  });
  return git(cwd, "show", "agent/work:seen.txt");
};

/** Either nothing was declared, or the run was refused. */
const expectKept = async (cwd: string): Promise<void> => {
  const seen = await seenByNextRun(cwd).catch((error: Error) => error);
  if (seen instanceof Error) expect(seen.message).toContain(".sanddune");
  else expect(seen).toBe("unset");
};

const commitAll = (cwd: string): void => {
  git(cwd, "add", "--all", "--force");
  git(cwd, "commit", "--quiet", "-m", "Innocent");
};

const LINK_AS_CONFIG_DIRECTORY = shell(
  `mkdir innocent; echo ${NAME}= > innocent/.env; rm -rf .sanddune; ln -s innocent .sanddune`,
  "git add --all --force; git commit --quiet -m Innocent",
);

describe("an agent cannot have a variable of the host declared for the next run", () => {
  it("by writing the env file into the user's checkout", async () => {
    const cwd = temporaryRepository();
    await play(cwd, [shell(`mkdir -p .sanddune; echo ${NAME}= > .sanddune/.env; echo x > tried.txt`)], {
      branchStrategy: STRATEGIES.head,
    });
    expect(existsSync(join(cwd, "tried.txt"))).toBe(true);
    expect(await seenByNextRun(cwd)).toBe("unset");
  });

  it("by replacing an env file in the user's checkout", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/.env"), "OTHER=1\n");
    const attempts = [
      `echo ${NAME}= > .sanddune/.env`,
      "rm -rf .sanddune",
      "mv .sanddune old",
      `rm -f .sanddune/.env; echo ${NAME}= > .sanddune/.env`,
    ];
    await play(
      cwd,
      attempts.map((attempt) => shell(attempt)),
      { branchStrategy: STRATEGIES.head },
    );
    expect(await seenByNextRun(cwd)).toBe("unset");
  });

  it("by committing an env file", async () => {
    const cwd = temporaryRepository();
    const files = { ".sanddune/.env": `${NAME}=\n` };
    await play(cwd, [{ commit: "Innocent", files }], { branchStrategy: STRATEGIES["merge-to-head"] }).catch(
      () => {},
    );
    await expectKept(cwd);
  });

  it("by committing a symbolic link in the place of the config directory", async () => {
    const cwd = temporaryRepository();
    await play(cwd, [LINK_AS_CONFIG_DIRECTORY], { branchStrategy: STRATEGIES["merge-to-head"] }).catch(
      () => {},
    );
    await expectKept(cwd);
  });

  it("with a committed env file that the user has checked out", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/.env"), `${NAME}=\n`);
    commitAll(cwd);
    process.env[NAME] = VALUE;
    expect(await failureOf(play(cwd, []))).toMatchObject({ option: ".sanddune/.env" });
  });

  it("with a committed symbolic link to an env file", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, "innocent"), `${NAME}=\n`);
    symlinkSync("../innocent", join(cwd, ".sanddune/.env"));
    commitAll(cwd);
    await expectKept(cwd);
  });

  it("with a committed symbolic link in the place of the config directory", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "innocent"));
    writeFileSync(join(cwd, "innocent/.env"), `${NAME}=\n`);
    symlinkSync("innocent", join(cwd, ".sanddune"));
    commitAll(cwd);
    await expectKept(cwd);
  });

  it("with a submodule in the place of the config directory", async () => {
    const cwd = temporaryRepository();
    const other = temporaryRepository();
    writeFileSync(join(other, ".env"), `${NAME}=\n`);
    commitAll(other);
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, ".sanddune");
    git(cwd, "commit", "--quiet", "-m", "Innocent");
    await expectKept(cwd);
  });
});

it("an agent's commit does not replace what is in the user's config directory", async () => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, ".sanddune"));
  writeFileSync(join(cwd, ".sanddune/.env"), "OTHER=of-the-user\n");
  writeFileSync(join(cwd, ".gitignore"), ".sanddune/.env\n");
  git(cwd, "add", ".gitignore");
  git(cwd, "commit", "--quiet", "-m", "Ignore the env file");
  await play(cwd, [LINK_AS_CONFIG_DIRECTORY], { branchStrategy: STRATEGIES["merge-to-head"] }).catch(
    () => {},
  );
  expect(lstatSync(join(cwd, ".sanddune")).isDirectory()).toBe(true);
  expect(readFileSync(join(cwd, ".sanddune/.env"), "utf8")).toBe("OTHER=of-the-user\n");
});

it("the agent cannot read the user's env file in the user's checkout", async () => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, ".sanddune"));
  writeFileSync(join(cwd, ".sanddune/.env"), "OTHER=value-in-the-file\n");
  writeFileSync(join(cwd, ".gitignore"), ".sanddune/.env\n");
  await play(cwd, [shell("cat .sanddune/.env > copy.txt; git add copy.txt; git commit -q -m Report")], {
    branchStrategy: STRATEGIES.head,
    env: { OTHER: "another" },
  });
  expect(git(cwd, "show", "main:copy.txt")).toBe("");
});

it.each([
  ".sanddune/.env",
  ".SandDune/.env",
  ".\u017fanddune/.env",
  ".sand\u200cdune/.env",
  ".sanddune/logs/x",
])("commits that put something into %j are refused, and kept", async (path) => {
  const cwd = temporaryRepository();
  const before = git(cwd, "rev-parse", "main");
  const add = `blob=$(echo x | git hash-object -w --stdin); git update-index --add --cacheinfo "100644,$blob,${path}"`;
  const error = await failureOf(
    play(cwd, [shell(add, "git commit --quiet -m Innocent")], { branchStrategy: { type: "merge-to-head" } }),
  );
  expect(error.name).toBe("ImportRefusedError");
  expect(git(cwd, "rev-parse", "main")).toBe(before);
  expect(git(cwd, "log", "-1", "--format=%s", `refs/sanddune/runs/${error.runId}/tip`)).toBe("Innocent");
});
