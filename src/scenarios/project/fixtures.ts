import { mkdirSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { hostFileErrorAt } from "../../errors/hostFile.ts";
import { ENV_FILE } from "../../options/configDirectory.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { isInside } from "../../tools/isInside.ts";
import type { PageProblem } from "../pages/pageProblem.ts";
import type { Scenario } from "../spec.ts";
import { isPrivateDirectory } from "../suite/privateNames.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import { copyTree, readTree, type TreeEntry } from "./copyTree.ts";
import { findInside } from "./findInside.ts";

/** A copy of a fixture, taken before the first execution. */
export interface FixtureSnapshot {
  readonly path: string;
  readonly entries: readonly TreeEntry[];
}

export interface FixtureSnapshots {
  readonly snapshots: ReadonlyMap<string, FixtureSnapshot>;
  /** Why the other fixtures cannot be used. */
  readonly problems: ReadonlyMap<string, string>;
}

type FixtureSuite = Pick<ScenarioSuite, "root" | "fixturesRoot">;

/** A page can name any directory as its fixture, and agents and records show the content of a project. */
const refusePrivate = (
  path: string,
  entries: readonly TreeEntry[],
  { root, fixturesRoot }: FixtureSuite,
): void => {
  if (isInside(path, realpathSync(root))) throw new Error(`the suite itself is in ${path}`);
  const names = relative(realpathSync(fixturesRoot), path).split(sep);
  if (names.some(isPrivateDirectory)) {
    throw new Error(`${path} is private`);
  }
  const secret = entries.find((entry) => join(sep, entry.path).endsWith(join(sep, ENV_FILE)));
  if (secret !== undefined) throw new Error(`${join(path, secret.path)} is private`);
};

/** Finds a fixture with its entries. Throws if it cannot be used. */
const findFixture = (suite: FixtureSuite, fixture: string): FixtureSnapshot => {
  const source = findInside(realpathSync(suite.fixturesRoot), fixture);
  if (source.status === undefined) throw new Error(`there is no ${source.path}`);
  if (!source.status.isDirectory()) throw new Error(`${source.path} is not a directory`);
  const entries = readTree(source.path);
  refusePrivate(source.path, entries, suite);
  return { path: source.path, entries };
};

/** Which fixtures of these scenarios cannot be used, and why. Nothing is copied. */
export const fixtureProblems = (
  suite: FixtureSuite,
  scenarios: readonly Scenario[],
): readonly PageProblem[] => {
  const problems = new Map<string, string | undefined>();
  const problemOf = (fixture: string): string | undefined => {
    try {
      findFixture(suite, fixture);
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  };
  return scenarios.flatMap(({ page, fixtureLine = 1, spec: { fixture } }) => {
    if (fixture === undefined) return [];
    if (!problems.has(fixture)) problems.set(fixture, problemOf(fixture));
    const reason = problems.get(fixture);
    const problem = `the fixture ${JSON.stringify(fixture)} cannot be used: ${reason}`;
    return reason === undefined ? [] : [{ page, line: fixtureLine, problem }];
  });
};

const snapshot = async (suite: FixtureSuite, fixture: string, path: string): Promise<FixtureSnapshot> => {
  const source = findFixture(suite, fixture);
  mkdirSync(path, { mode: 0o700 });
  await copyTree(source.entries, source.path, path);
  return { path, entries: source.entries };
};

/**
 * Copies each fixture once into `directory`, which belongs to the runner, so that no execution can change what
 * another one starts from. A fixture that cannot be used does not affect the others.
 */
export const snapshotFixtures = async (
  suite: FixtureSuite,
  fixtures: readonly string[],
  directory: string,
): Promise<FixtureSnapshots> => {
  const snapshots = new Map<string, FixtureSnapshot>();
  const problems = new Map<string, string>();
  for (const [index, fixture] of [...new Set(fixtures)].entries()) {
    try {
      snapshots.set(fixture, await snapshot(suite, fixture, join(directory, `fixture-${index + 1}`)));
    } catch (error) {
      problems.set(fixture, reasonOf(error));
    }
  }
  return { snapshots, problems };
};

/** Copies a fixture to the project directory, which must be new or empty. */
export const createProject = async (snapshot: FixtureSnapshot, projectRoot: string): Promise<void> => {
  try {
    mkdirSync(projectRoot, { recursive: true });
    await copyTree(snapshot.entries, snapshot.path, projectRoot);
  } catch (cause) {
    throw hostFileErrorAt((cause as NodeJS.ErrnoException).path)(cause);
  }
};
