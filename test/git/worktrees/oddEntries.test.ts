import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { findOddEntries } from "../../../src/git/worktrees/oddEntries.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const MANY = 1500;

/** A checkout that is walked by this process, and one that `find` walks. */
const SIZES: [string, (checkout: string) => void][] = [
  ["small", () => {}],
  [
    "large",
    (checkout) => {
      mkdirSync(join(checkout, "many"));
      for (let count = 0; count < MANY; count++) writeFileSync(join(checkout, `many/${count}`), "");
    },
  ],
];

describe.each(SIZES)("a %s checkout", (_, fill) => {
  const found = async (change: (checkout: string) => void, except?: string) => {
    const checkout = temporaryDirectory();
    writeFileSync(join(checkout, ".git"), "gitdir: elsewhere\n");
    mkdirSync(join(checkout, "a/b"), { recursive: true });
    fill(checkout);
    change(checkout);
    return runAtBoundary(findOddEntries(checkout, except));
  };
  const pipe = (path: string) => execFileSync("mkfifo", [path]);

  it("has nothing odd: its own .git, other pipes, and what links lead to do not count", async () => {
    const elsewhere = temporaryDirectory();
    mkdirSync(join(elsewhere, ".git"));
    const nothing = { hasPipes: false, mayHaveRepositories: false };
    const change = (checkout: string) => {
      pipe(join(checkout, "a/other"));
      writeFileSync(join(checkout, "a/.gitignore"), "");
      symlinkSync(elsewhere, join(checkout, "a/link"));
    };
    expect(await found(change)).toEqual(nothing);
  });

  it.each([".gitignore", ".gitattributes"])("has a pipe in place of %s", async (name) => {
    const { hasPipes } = await found((checkout) => pipe(join(checkout, "a/b", name)));
    expect(hasPipes).toBe(true);
  });

  it.each(["a/b/.git", "a/.GIT", ".Git"])("may have a repository: %s", async (path) => {
    const { mayHaveRepositories } = await found((checkout) => mkdirSync(join(checkout, path)));
    expect(mayHaveRepositories).toBe(true);
  });

  it("is not searched at the name that is left out, and is elsewhere", async () => {
    const makeOdd = (place: string) => {
      mkdirSync(join(place, ".git"), { recursive: true });
      pipe(join(place, ".gitignore"));
    };
    const odd = (place: string) => found((checkout) => makeOdd(join(checkout, place)), "left-out");
    expect(await odd("left-out")).toEqual({ hasPipes: false, mayHaveRepositories: false });
    expect(await odd("a/left-out")).toEqual({ hasPipes: true, mayHaveRepositories: true });
  });

  it("may have a repository below a name that is not text", async () => {
    const { mayHaveRepositories } = await found((checkout) => {
      const odd = Buffer.from(`${checkout}/\xff`, "latin1");
      mkdirSync(odd);
      mkdirSync(Buffer.concat([odd, Buffer.from("/.git")]));
    });
    expect(mayHaveRepositories).toBe(true);
  });
});
