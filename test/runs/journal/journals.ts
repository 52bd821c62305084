import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

export const RUN_ID = "20300102-030405-abcdef";

/** What a run of this process writes first. */
export const begun = (changes: object = {}): object => ({
  at: "2030-01-02T03:04:05.000Z",
  type: "begun",
  runId: RUN_ID,
  kind: "run",
  owner: ownIdentity(),
  agent: "scripted",
  sandbox: "bubblewrap",
  strategy: "branch",
  sourceBranch: "b",
  temporaryDirectory: "/nowhere",
  ...changes,
});

export const entry = (type: string, fields: object = {}): object => ({
  at: "2030-01-02T03:05:00.000Z",
  type,
  ...fields,
});

/** The directory of a run with a journal of these lines; a string stands as it is. */
export const runDirectory = (lines: readonly (object | string)[], runs = temporaryDirectory()): string => {
  const directory = join(runs, RUN_ID);
  mkdirSync(directory, { recursive: true });
  const text = lines.map((line) => (typeof line === "string" ? line : `${JSON.stringify(line)}\n`)).join("");
  writeFileSync(join(directory, "journal.jsonl"), text);
  return directory;
};
