import { rmSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { shellQuote } from "../process/shellQuote.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { branchRef } from "./refs.ts";
import { SANDBOX_CHECKPOINT_REF, SANDBOX_STASH_REFS, SANDBOX_UNCOMMITTED_REF } from "./runRefs.ts";
import { takeFile } from "./takeFile.ts";

/** The repository in a sandbox, as far as taking commits out of it is concerned. */
export interface SandboxRepository {
  readonly handle: SandboxHandle;
  /** Its git directory, in the sandbox. */
  readonly gitDirectory: string;
  /** The same directory on the host, if the sandbox shares it; otherwise all of its files are in the sandbox only. */
  readonly hostGitDirectory: string | undefined;
}

/** What to take out of a sandbox. */
export interface ExportRequest {
  /** `undefined`: a detached HEAD. */
  readonly sourceBranch: string | undefined;
  /** What the host has already: it stays behind. */
  readonly knownCommits: readonly string[];
  /** Whoever worked there was killed: what they had locked stays locked otherwise. */
  readonly breaksLocks: boolean;
  /** The last checkpoint that the host has heard of and does not have yet. */
  readonly checkpoint?: string | undefined;
  readonly timeoutMs: number;
}

/** What a sandbox says about its repository. All of it is the agent's word until the import has checked it. */
export interface SandboxExport {
  /** Tip of the source branch, or of HEAD if the host's HEAD is detached; `undefined` when there is none. */
  readonly tip: string | undefined;
  /** The bundle of new commits on the host, if there are any. */
  readonly bundlePath: string | undefined;
  /** The bundle of checkpoints on the host, if there is one. */
  readonly checkpointsPath: string | undefined;
  /** A commit that holds the uncommitted work of an isolated sandbox, if there is any. */
  readonly uncommitted: string | undefined;
  /** Uncommitted work that is in the sandbox only, and did not get out. */
  readonly leftBehind: readonly string[];
}

const BUNDLE = "sanddune-export.bundle";
const CHECKPOINTS_BUNDLE = "sanddune-checkpoints.bundle";
const REPORT = "sanddune-export.report";
/** Made by the host, for commands that pack when they are over. */
export const KNOWN_COMMITS_FILE = "sanddune-known-commits";

const HAS_BUNDLE = "bundle";
const HAS_CHECKPOINTS = "checkpoints";
const INCOMPLETE = "incomplete";
const NESTED = "nested ";
const UNCOMMITTED = "uncommitted ";
const COMPLETE = "complete";
const MAX_REPORT_BYTES = 64 * 1024;

/**
 * Makes a commit of everything that is not committed. Best effort: whatever is wrong with the files, the index or HEAD,
 * the commits must get out. What could not be taken along is said in the report.
 */
const SNAPSHOT_UNCOMMITTED = `
find . -path ./.git -prune -o -type p '(' -name .gitignore -o -name .gitattributes ')' -exec rm -f -- {} +
snapshot() {
  git add --all --ignore-errors 2>/dev/null || echo ${INCOMPLETE}
  tree=$(git write-tree 2>/dev/null)
}
export GIT_INDEX_FILE="$GIT_DIR/sanddune-index"
cp "$GIT_DIR/index" "$GIT_INDEX_FILE" 2>/dev/null
if ! snapshot; then
  rm -f "$GIT_INDEX_FILE"
  git read-tree "$source" && snapshot || { tree=; echo ${INCOMPLETE}; }
fi
if [ -n "$tree" ] && [ "$tree" != "$(git rev-parse --quiet --verify "$source^{tree}")" ]; then
  commit=$(git commit-tree -p "$source" -m 'Uncommitted work' "$tree") &&
    git update-ref ${SANDBOX_UNCOMMITTED_REF} "$commit" && extra=${SANDBOX_UNCOMMITTED_REF} &&
    printf '${UNCOMMITTED}%s\\n' "$commit"
fi
git ls-files --stage | sed -n 's/^160000 [0-9a-f]* 0.//p' | head -n 20 | while IFS= read -r path; do
  [ -n "$(git ls-tree "$source" -- "$path")" ] || printf '${NESTED}%s\\n' "$path"
done
rm -f "$GIT_INDEX_FILE"
unset GIT_INDEX_FILE`;

const BREAK_LOCKS = `find "$GIT_DIR" -path "$GIT_DIR/objects" -prune -o -name '*.lock' -type f -exec rm -f -- {} +`;

/** What every script of ours begins with that lets git loose on a sandbox's repository: nothing of it is to run, or to block. */
export const repositoryScript = ({ gitDirectory, handle }: SandboxRepository): string =>
  `export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
export LC_ALL=C GIT_DIR=${shellQuote(gitDirectory)} GIT_WORK_TREE=${shellQuote(handle.worktreePath)}
cd -- "$GIT_WORK_TREE" || exit 1
[ -d "$GIT_DIR" ] && [ ! -L "$GIT_DIR" ] || { echo 'the git directory of the sandbox was replaced' >&2; exit 1; }
odd=$(find "$GIT_DIR/refs" "$GIT_DIR" -maxdepth 8 -path "$GIT_DIR/objects" -prune -o ! -type f ! -type d -print 2>/dev/null | head -n 1)
[ -z "$odd" ] || { echo "$odd is neither a file nor a directory: git would wait for it" >&2; exit 1; }`;

/**
 * Packs checkpoints, as far as they are there as the host has heard of them, into a bundle of their own: whatever became of them,
 * the commits must get out. They build on these, which need not be packed twice.
 */
const packCheckpoints = (checkpoint: string, timeoutMs: number): string => `
limit=
if command -v timeout >/dev/null; then limit="timeout -s KILL ${Math.ceil(timeoutMs / 4000)}"; fi
[ ! -f "$bundle" ] || git bundle list-heads "$bundle" | sed 's/^\\([0-9a-f]*\\) .*/^\\1/' >> "$known"
git update-ref --no-deref ${SANDBOX_CHECKPOINT_REF} ${checkpoint} 2>/dev/null &&
  $limit git bundle create --quiet "$checkpoints" --ignore-missing ${SANDBOX_CHECKPOINT_REF} --stdin < "$known" 2>/dev/null &&
  echo ${HAS_CHECKPOINTS}`;

/**
 * Packs, in the sandbox, every commit of every branch that the host does not know, and prints a report: the tip of the
 * source branch, whether there is a bundle, and that the report is complete. Input is the list of known commits;
 * those that the host has deleted and pruned since are ignored.
 */
const packScript = (
  sandbox: SandboxRepository,
  sourceBranch: string | undefined,
  { breaksLocks = false, checkpoint, timeoutMs = 0 }: Partial<ExportRequest> = {},
): string => {
  const source = sourceBranch === undefined ? "HEAD" : branchRef(sourceBranch);
  return `${repositoryScript(sandbox)}
${breaksLocks ? BREAK_LOCKS : ""}
known="$GIT_DIR/sanddune-known"
bundle="$GIT_DIR/${BUNDLE}"
checkpoints="$GIT_DIR/${CHECKPOINTS_BUNDLE}"
rm -rf "$known" "$bundle" "$checkpoints"
cat > "$known" || exit 1
source=$(git rev-parse --quiet --verify ${shellQuote(`${source}^{commit}`)})
printf '%s\\n' "$source"
extra=
${sandbox.hostGitDirectory === undefined ? SNAPSHOT_UNCOMMITTED : ""}
number=0
for stashed in $(git rev-parse --quiet --verify refs/stash >/dev/null && git rev-list --walk-reflogs --max-count=10 refs/stash); do
  number=$((number + 1))
  git update-ref ${SANDBOX_STASH_REFS}$number "$stashed" && extra="$extra ${SANDBOX_STASH_REFS}$number"
done
new=$(git rev-list --ignore-missing --max-count=1 --branches HEAD $extra --stdin < "$known") || exit 1
if [ -n "$new" ]; then
  git bundle create --quiet "$bundle" --ignore-missing --branches HEAD $extra --stdin < "$known" || exit 1
  echo ${HAS_BUNDLE}
fi
${checkpoint === undefined ? "" : packCheckpoints(checkpoint, timeoutMs)}
rm -f "$known"
echo ${COMPLETE}`;
};

/** The commits that stay behind, as git reads them. */
export const exclusions = (knownCommits: readonly string[]): string =>
  knownCommits.map((sha) => `^${sha}\n`).join("");

const OBJECT_NAME = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

interface Report {
  readonly tip: string | undefined;
  readonly hasBundle: boolean;
  readonly hasCheckpoints: boolean;
  readonly uncommitted: string | undefined;
  readonly leftBehind: readonly string[];
}

/** `undefined` for a report that breaks off. */
const parseReport = (text: string): Report | undefined => {
  const lines = text.split("\n");
  if (!lines.includes(COMPLETE)) return undefined;
  const nested = lines.filter((line) => line.startsWith(NESTED)).map((line) => line.slice(NESTED.length));
  return {
    tip: lines.find((line) => OBJECT_NAME.test(line)),
    hasBundle: lines.includes(HAS_BUNDLE),
    hasCheckpoints: lines.includes(HAS_CHECKPOINTS),
    uncommitted: lines.find((line) => line.startsWith(UNCOMMITTED))?.slice(UNCOMMITTED.length),
    leftBehind: [
      ...nested.map((path) => `the repository in ${JSON.stringify(path)}`),
      ...(lines.includes(INCOMPLETE) && nested.length === 0 ? ["files that git could not read"] : []),
    ],
  };
};

const refused = (problem: string, output = "") => new ImportRefusedError(problem, undefined, output);

const fetchFile = (sandbox: SandboxRepository, name: string, hostPath: string): Promise<void> =>
  sandbox.hostGitDirectory === undefined
    ? sandbox.handle.copyFileOut(`${sandbox.gitDirectory}/${name}`, hostPath)
    : takeFile(join(sandbox.hostGitDirectory, name), hostPath);

const fetchBundle = (sandbox: SandboxRepository, name: string, hostPath: string) =>
  interruptible(
    () => fetchFile(sandbox, name, hostPath),
    (reason) => reason as SandduneError,
  ).pipe(Effect.as(hostPath));

const fetchBundles = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  { hasBundle, hasCheckpoints, ...rest }: Report,
  hostPath: string,
): Effect.fn.Return<SandboxExport, SandduneError> {
  const bundlePath = hasBundle ? yield* fetchBundle(sandbox, BUNDLE, hostPath) : undefined;
  const checkpointsPath = hasCheckpoints
    ? yield* fetchBundle(sandbox, CHECKPOINTS_BUNDLE, `${hostPath}.checkpoints`).pipe(
        Effect.orElseSucceed(() => undefined),
      )
    : undefined;
  return { ...rest, bundlePath, checkpointsPath };
});

/** Has the sandbox pack what is new, and brings it to `hostPath`. */
export const exportFromSandbox = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  request: ExportRequest,
  hostPath: string,
): Effect.fn.Return<SandboxExport, SandduneError> {
  const { stdout, stderr, exitCode } = yield* interruptible(
    (signal) =>
      sandbox.handle.exec(packScript(sandbox, request.sourceBranch, request), {
        stdin: exclusions(request.knownCommits),
        timeoutMs: request.timeoutMs,
        signal,
      }),
    (reason) => reason as SandduneError,
  );
  const report = exitCode === 0 ? parseReport(stdout) : undefined;
  if (report === undefined)
    return yield* Effect.fail(refused("git in the sandbox could not pack them", stderr));
  return yield* fetchBundles(sandbox, report, hostPath);
});

/** The agent may have made something of it that cannot be removed; then the report cannot be written either. */
const forgetReport = (hostGitDirectory: string): void => {
  try {
    rmSync(join(hostGitDirectory, REPORT), { recursive: true, force: true });
  } catch {}
};

/** What a former command has left in the repository may keep git waiting for ever: then the host tries by itself. */
const PACK_SECONDS = 20;

/** What has come home since the sandbox was made; what is left out is packed again, which costs time only. */
const MAX_LATER_COMMITS = 500;

const withExport = (
  sandbox: SandboxRepository,
  { sourceBranch, laterCommits }: PackRequest,
  command: string,
): string => `sh -c -- ${shellQuote(command)}
_sanddune_code=$?
_sanddune_known=${sandbox.gitDirectory}/${KNOWN_COMMITS_FILE}
_sanddune_limit=
if command -v timeout >/dev/null; then _sanddune_limit="timeout -s KILL ${PACK_SECONDS}"; fi
[ ! -f "$_sanddune_known" ] || {
  cat "$_sanddune_known" - <<'END'
${exclusions(laterCommits.slice(-MAX_LATER_COMMITS))}END
} | $_sanddune_limit sh -c -- ${shellQuote(packScript(sandbox, sourceBranch))} >${sandbox.gitDirectory}/${REPORT} 2>/dev/null
exit $_sanddune_code`;

/** What commands are to pack when they are over. */
export interface PackRequest {
  /** `undefined`: a detached HEAD. */
  readonly sourceBranch: string | undefined;
  /** What the host has got since the sandbox was made. */
  readonly laterCommits: readonly string[];
}

/**
 * A handle whose commands pack what is new when they are over: starting another command in a sandbox can take longer
 * than all of git's work. Where the sandbox shares its git directory with the host, that is where the report is found;
 * elsewhere it is the handle as it was.
 */
export const exportingHandle = (sandbox: SandboxRepository, request: () => PackRequest): SandboxHandle => {
  const { handle, hostGitDirectory } = sandbox;
  if (hostGitDirectory === undefined) return handle;
  return {
    name: handle.name,
    worktreePath: handle.worktreePath,
    exec: (command, options) => {
      forgetReport(hostGitDirectory);
      return handle.exec(withExport(sandbox, request(), command), options);
    },
    copyFileOut: (sandboxPath, hostPath) => handle.copyFileOut(sandboxPath, hostPath),
    close: () => handle.close(),
  };
};

const takeReport = async (hostGitDirectory: string, hostPath: string): Promise<Report | undefined> => {
  const draft = `${hostPath}.report`;
  try {
    await takeFile(join(hostGitDirectory, REPORT), draft, MAX_REPORT_BYTES);
    return parseReport(await readFile(draft, "utf8"));
  } catch {
    return undefined;
  } finally {
    await rm(draft, { force: true });
    forgetReport(hostGitDirectory);
  }
};

/** What a command of an `exportingHandle` has packed; `undefined` if it did not come that far. */
export const takeFinishedExport = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  hostPath: string,
): Effect.fn.Return<SandboxExport | undefined, SandduneError> {
  const { hostGitDirectory } = sandbox;
  if (hostGitDirectory === undefined) return undefined;
  const report = yield* Effect.promise(() => takeReport(hostGitDirectory, hostPath));
  return report === undefined ? undefined : yield* fetchBundles(sandbox, report, hostPath);
});
