import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { ProcessIdentity } from "../../process/kill/processIdentity.ts";
import { readableEntries } from "../../tools/files/readableEntries.ts";
import { parseObject } from "../../tools/json/parseJson.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { ensureGitDirectoryPart, gitDirectoryPart } from "../gitDirectoryParts.ts";
import { isObjectName } from "../objectName.ts";
import type { Repository } from "../repository.ts";
import { REMOVING } from "../worktrees/removalDraft.ts";

/** What finds the work in an overlay, if the journal of its run is gone. */
export interface OverlayRun {
  readonly branch: string;
  /** The commit that the run started with. */
  readonly commit: string;
  readonly strategy: string;
  /** The sandbox provider's name. */
  readonly sandbox: string | undefined;
  readonly owner: ProcessIdentity;
}

/** The overlay of a run, as it is found without the journal. */
export interface FoundOverlay {
  readonly runId: string;
  readonly directory: string;
  /** The config directory of the checkout that the run was started in. */
  readonly configDirectory: string;
  /** `undefined` if a process was killed before it wrote the record, or something has damaged that. */
  readonly run: OverlayRun | undefined;
}

const RECORD = "run.json";

type Directories = Pick<Repository, "commonDirectory" | "configDirectory">;

/** The directory of a run's overlay. As long as it exists, its changes are not in the worktree. */
export const overlayDirectoryOf = (repository: Pick<Repository, "commonDirectory">, runId: string): string =>
  join(gitDirectoryPart(repository, "overlays"), runId);

/** Makes the directory of a run's overlay. Its record survives a power cut. */
export const makeOverlayDirectory = (repository: Directories, runId: string, run: OverlayRun): string => {
  const directory = join(ensureGitDirectoryPart(repository, "overlays"), runId);
  mkdirSync(directory, { mode: 0o700 });
  // Relative, because the repository may move. Checkouts of a repository with a separate git directory have one each.
  const configDirectory = relative(repository.commonDirectory, repository.configDirectory);
  writeFileSync(join(directory, RECORD), JSON.stringify({ ...run, configDirectory }), { flush: true });
  return directory;
};

/** Whether the record is one that `makeOverlayDirectory` has written. */
const isRun = (value: Record<string, unknown> | undefined): boolean =>
  typeof value?.["branch"] === "string" &&
  typeof value["strategy"] === "string" &&
  typeof value["owner"] === "object" &&
  value["owner"] !== null &&
  isObjectName(value["commit"]);

const readFound = ({ commonDirectory, configDirectory }: Directories, directory: string): FoundOverlay => {
  const record = parseObject(orUndefined(() => readFileSync(join(directory, RECORD), "utf8")) ?? "");
  const place = { runId: basename(directory), directory, configDirectory };
  if (!isRun(record)) return { ...place, run: undefined };
  const recorded = resolve(commonDirectory, String(record?.["configDirectory"]));
  const run = record as unknown as OverlayRun;
  // The checkout that the run was started in may have been removed.
  return existsSync(dirname(recorded)) ? { ...place, run, configDirectory: recorded } : { ...place, run };
};

/** All overlays of this user's runs in the repository. */
export const listOverlays = (repository: Directories): FoundOverlay[] => {
  const parent = gitDirectoryPart(repository, "overlays");
  return readableEntries(parent)
    .filter(({ name }) => !name.startsWith(REMOVING))
    .map(({ name }) => readFound(repository, join(parent, name)));
};
