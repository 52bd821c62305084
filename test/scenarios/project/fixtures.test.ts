import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProject, snapshotFixtures } from "../../../src/scenarios/project/fixtures.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const suite = () => {
  const directory = temporaryDirectory();
  const fixtures = join(directory, "fixtures");
  const snapshots = join(directory, "snapshots");
  mkdirSync(join(fixtures, "one"), { recursive: true });
  mkdirSync(snapshots);
  return { directory, fixtures, snapshots, one: join(fixtures, "one"), project: join(directory, "project") };
};

const suiteOf = ({ directory, fixtures }: ReturnType<typeof suite>) => ({
  root: directory,
  fixturesRoot: fixtures,
});

/** A copy of the fixture `one`, by way of its snapshot. */
const copyOfOne = async (places: ReturnType<typeof suite>): Promise<void> => {
  const found = await snapshotFixtures(suiteOf(places), ["one"], places.snapshots);
  expect([...found.problems]).toEqual([]);
  await createProject(found.snapshots.get("one") as never, places.project);
};

const modeOf = (path: string): number => lstatSync(path).mode & 0o7777;

test("A project is a copy of its fixture: content, modes, links, hidden files and repositories", async () => {
  const places = suite();
  const { one, project } = places;
  mkdirSync(join(one, ".git/refs"), { recursive: true });
  mkdirSync(join(one, "sub/deep"), { recursive: true });
  writeFileSync(join(one, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(one, ".gitkeep"), "");
  writeFileSync(join(one, "tool.sh"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(one, "sub/private"), Buffer.from([0, 255, 10]), { mode: 0o600 });
  writeFileSync(join(one, "sub/deep/large"), "x".repeat(1024 * 1024));
  writeFileSync(join(one, "öä \n-x"), "odd");
  symlinkSync("../tool.sh", join(one, "sub/link"));
  symlinkSync("not-there-yet", join(one, "dangling"));
  chmodSync(join(one, "sub"), 0o2750);

  await copyOfOne(places);

  expect(execFileSync("diff", ["-r", "--no-dereference", one, project], { encoding: "utf8" })).toBe("");
  expect(readlinkSync(join(project, "sub/link"))).toBe("../tool.sh");
  expect(readlinkSync(join(project, "dangling"))).toBe("not-there-yet");
  for (const path of ["tool.sh", "sub", "sub/private", ".git/refs"]) {
    expect(modeOf(join(project, path))).toBe(modeOf(join(one, path)));
  }
});

test("Read-only directories are copied with their content", async () => {
  const places = suite();
  const inner = join(places.one, "outer/inner");
  mkdirSync(inner, { recursive: true });
  writeFileSync(join(inner, "a.txt"), "a");
  const readOnly = ["outer/inner", "outer"];
  onTestFinished(() => {
    execFileSync("chmod", ["-R", "u+rwx", places.directory]);
  });
  for (const path of readOnly) chmodSync(join(places.one, path), 0o555);
  await copyOfOne(places);
  for (const path of readOnly) expect(modeOf(join(places.project, path))).toBe(0o555);
  expect(readFileSync(join(places.project, "outer/inner/a.txt"), "utf8")).toBe("a");
});

test("More files than fit into a batch are all there", async () => {
  const places = suite();
  for (let i = 0; i < 300; i++) writeFileSync(join(places.one, `${i}.txt`), `${i}`);
  await copyOfOne(places);
  expect(execFileSync("diff", ["-r", places.one, places.project], { encoding: "utf8" })).toBe("");
});

test("A fixture that is changed after its snapshot was taken is what it was", async () => {
  const places = suite();
  const { snapshots, one, project } = places;
  writeFileSync(join(one, "a.txt"), "before");
  const found = await snapshotFixtures(suiteOf(places), ["one", "one"], snapshots);
  writeFileSync(join(one, "a.txt"), "after");
  rmSync(one, { recursive: true });
  const snapshot = found.snapshots.get("one") as never;
  await createProject(snapshot, project);
  writeFileSync(join(project, "a.txt"), "changed by a scenario");
  await createProject(snapshot, `${project}-2`);
  expect(readFileSync(join(`${project}-2`, "a.txt"), "utf8")).toBe("before");
});

test("A project is not laid over files that are there already", async () => {
  const places = suite();
  writeFileSync(join(places.one, "a.txt"), "fixture");
  mkdirSync(places.project);
  writeFileSync(join(places.project, "a.txt"), "mine");
  await expect(copyOfOne(places)).rejects.toThrow("EEXIST");
  expect(readFileSync(join(places.project, "a.txt"), "utf8")).toBe("mine");
});

type Places = ReturnType<typeof suite>;

test.each<[string, string, (places: Places) => void, RegExp]>([
  ["is missing", "none", () => {}, /there is no .*none/],
  ["is a file", "file", ({ fixtures }) => writeFileSync(join(fixtures, "file"), ""), /is not a directory/],
  [
    "is a named pipe",
    "pipe",
    ({ fixtures }) => execFileSync("mkfifo", [join(fixtures, "pipe")]),
    /is not a directory/,
  ],
  ["is above the fixtures", "../", () => {}, /leads outside/],
  ["is absolute", "/etc", () => {}, /absolute/],
  [
    "is a link that leaves the fixtures",
    "out",
    ({ fixtures }) => symlinkSync("..", join(fixtures, "out")),
    /leads outside/,
  ],
  [
    "is in a config directory",
    ".sanddune",
    ({ fixtures }) => mkdirSync(join(fixtures, ".sanddune")),
    /is private/,
  ],
  [
    "is in a git directory",
    "two/.git/refs",
    ({ fixtures }) => mkdirSync(join(fixtures, "two/.git/refs"), { recursive: true }),
    /is private/,
  ],
  [
    "has the env file of another one",
    "two",
    ({ fixtures }) => {
      mkdirSync(join(fixtures, "two/sub/.sanddune"), { recursive: true });
      writeFileSync(join(fixtures, "two/sub/.sanddune/.env"), "KEY=secret");
    },
    /two\/sub\/\.sanddune\/\.env is private/,
  ],
])("A fixture that %s is reported, and the others are copied", async (_, fixture, prepare, problem) => {
  const places = suite();
  prepare(places);
  const found = await snapshotFixtures(suiteOf(places), [fixture, "one"], places.snapshots);
  expect(found.problems.get(fixture)).toMatch(problem);
  expect([...found.snapshots.keys()]).toEqual(["one"]);
});

test.each<[string, (one: string) => void, RegExp]>([
  [
    "a link out of it",
    (one) => symlinkSync("../two", join(one, "out")),
    /"out" is a symbolic link to "\.\.\/two": it leads outside/,
  ],
  [
    "a link out of it by a detour",
    (one) => {
      symlinkSync(".", join(one, "top"));
      symlinkSync("top/../../x", join(one, "detour"));
    },
    /"detour" is a symbolic link/,
  ],
  [
    "an absolute link",
    (one) => symlinkSync(one, join(one, "absolute")),
    /"absolute" .* absolute links cannot be copied/,
  ],
  ["a named pipe", (one) => execFileSync("mkfifo", [join(one, "pipe")]), /"pipe" is neither a file/],
  [
    "a name that is no text",
    (one) => writeFileSync(Buffer.concat([Buffer.from(`${one}/`), Buffer.from([0xff])]), ""),
    /not valid UTF-8/,
  ],
])("A fixture with %s is refused by the name of that", async (_, prepare, problem) => {
  const places = suite();
  prepare(places.one);
  const found = await snapshotFixtures(suiteOf(places), ["one"], places.snapshots);
  expect(found.problems.get("one")).toMatch(problem);
  expect(found.snapshots.size).toBe(0);
});

test("The suite itself is no fixture, nor what it is in", async () => {
  const places = suite();
  const inner = { root: join(places.one, "suite"), fixturesRoot: places.fixtures };
  mkdirSync(inner.root);
  const found = await snapshotFixtures(inner, [".", "one", "one/suite"], places.snapshots);
  expect([...found.problems.values()]).toEqual(
    Array(3).fill(expect.stringContaining("the suite itself is in")),
  );
});

test("Without a directory for fixtures, each of them is reported", async () => {
  const places = suite();
  rmSync(places.fixtures, { recursive: true });
  const found = await snapshotFixtures(suiteOf(places), ["one", "two"], places.snapshots);
  expect([...found.problems.keys()]).toEqual(["one", "two"]);
  expect(existsSync(join(places.snapshots, "fixture-1"))).toBe(false);
});
