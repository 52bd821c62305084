import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { redactData } from "../../redaction/redactData.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { escapeRegExp } from "../../tools/escapeRegExp.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import type { ScenarioRecord } from "./record.ts";

/** Names of env vars whose values are treated as secrets. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|AUTH(?!OR)/i;

export const secretsOfEnvironment = (
  environment: Readonly<Record<string, string | undefined>>,
): Map<string, string> =>
  new Map(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => SECRET_NAME.test(entry[0]) && entry[1] !== undefined,
    ),
  );

/** A path as it was given, and its real path, which programs may print. */
const spellingsOf = ([path, name]: readonly [string, string]): [string, string][] => {
  try {
    return [
      [realpathSync(path), name],
      [path, name],
    ];
  } catch {
    return [[path, name]];
  }
};

/** The directories of a suite, with their names in published files. */
export const suitePaths = (suite: ScenarioSuite): ReadonlyMap<string, string> =>
  new Map([
    [suite.fixturesRoot, "<fixtures>"],
    [suite.recordsDir, "<records>"],
    [suite.scenarioDir, "<scenarios>"],
    ...(suite.mirrorDir === undefined ? [] : ([[suite.mirrorDir, "<mirror>"]] as const)),
    [suite.root, "<suite>"],
  ]);

/** Replaces these directories, and the user's home and temporary directories, by names. The longest path first. */
export const pathReplacer = (paths: ReadonlyMap<string, string>): ((text: string) => string) => {
  const places = [[homedir(), "<home>"] as const, [tmpdir(), "<tmp>"] as const, ...paths];
  const sorted = [...new Map(places.flatMap(spellingsOf))]
    .filter(([path]) => path.length > 1)
    .sort(([a], [b]) => b.length - a.length);
  if (sorted.length === 0) return (text) => text;
  const names = new Map(sorted);
  // Not within a longer name: /tmp/a is not a part of /tmp/abc.
  const pattern = new RegExp(
    `(?:${sorted.map(([path]) => escapeRegExp(path)).join("|")})(?![\\w.-]*\\w)`,
    "g",
  );
  return (text) => text.replace(pattern, (path) => names.get(path) ?? path);
};

const mapStrings = <T>(value: T, change: (text: string) => string): T => {
  if (typeof value === "string") return change(value) as T;
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)])) as T;
};

/** Fields that the runner itself writes, which contain no secrets. */
const OWN_WORDS = ["schema", "test_id", "started_at", "finished_at", "result"] as const;

/** A record without secrets, and without paths of this machine. */
export const redactRecord = (
  record: ScenarioRecord,
  {
    secrets,
    paths,
  }: { readonly secrets: ReadonlyMap<string, string>; readonly paths: ReadonlyMap<string, string> },
): ScenarioRecord => {
  const redacted = redactData(new Redactor(secrets), record);
  const moved = mapStrings(redacted, pathReplacer(paths));
  return { ...moved, ...Object.fromEntries(OWN_WORDS.map((key) => [key, record[key]])) };
};
