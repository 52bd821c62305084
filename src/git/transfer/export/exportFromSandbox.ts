import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../../boundary/interruptible.ts";
import { ImportRefusedError, type SandduneError } from "../../../errors.ts";
import { repositoryScript, type SandboxRepository } from "../sandboxRepository.ts";
import { copyUntrustedFile } from "./copyUntrustedFile.ts";
import { type ExportReport, parseReport, REPORT } from "./exportReport.ts";
import {
  BUNDLE,
  CHECKPOINTS_BUNDLE,
  exclusions,
  type PackOrder,
  packScript,
  STATE_SCRIPT,
} from "./packScript.ts";

/** What to take out of a sandbox. */
export interface ExportRequest extends PackOrder {
  /** What the host has already: it stays behind. */
  readonly knownCommits: readonly string[];
  readonly timeoutMs: number;
}

/** What came out of a sandbox: its report, and the files that belong to it. */
export interface SandboxExport extends Omit<ExportReport, "hasBundle" | "hasCheckpoints"> {
  /** The bundle of everything new on the host, if there is anything. */
  readonly bundlePath: string | undefined;
  /** The bundle of checkpoints on the host, if there is one. */
  readonly checkpointsPath: string | undefined;
}

const fetchFile = (sandbox: SandboxRepository, name: string, hostPath: string): Promise<void> =>
  sandbox.hostGitDirectory === undefined
    ? sandbox.handle.copyFileOut(`${sandbox.gitDirectory}/${name}`, hostPath)
    : copyUntrustedFile(join(sandbox.hostGitDirectory, name), hostPath);

const fetchBundle = (sandbox: SandboxRepository, name: string, hostPath: string) =>
  interruptible(() => fetchFile(sandbox, name, hostPath)).pipe(Effect.as(hostPath));

/** Copies the bundles of a report to the host. */
export const fetchBundles = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  { hasBundle, hasCheckpoints, uncommitted, ...rest }: ExportReport,
  hostPath: string,
): Effect.fn.Return<SandboxExport, SandduneError> {
  const bundlePath = hasBundle ? yield* fetchBundle(sandbox, BUNDLE, hostPath) : undefined;
  const checkpointsPath = hasCheckpoints
    ? yield* fetchBundle(sandbox, CHECKPOINTS_BUNDLE, `${hostPath}.checkpoints`).pipe(
        Effect.orElseSucceed(() => undefined),
      )
    : undefined;
  // Where the host has the files, nothing uncommitted is ever exported.
  const isIsolated = sandbox.hostGitDirectory === undefined;
  return { ...rest, uncommitted: isIsolated ? uncommitted : undefined, bundlePath, checkpointsPath };
});

/** Has the sandbox pack everything new, and copies it to `hostPath`. */
export const exportFromSandbox = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  request: ExportRequest,
  hostPath: string,
): Effect.fn.Return<SandboxExport, SandduneError> {
  const { stdout, stderr, exitCode } = yield* interruptible((signal) =>
    sandbox.handle.exec(packScript(sandbox, request), {
      stdin: exclusions(request.knownCommits),
      timeoutMs: request.timeoutMs,
      signal,
    }),
  );
  const report = exitCode === 0 ? parseReport(stdout) : undefined;
  if (report === undefined) {
    return yield* Effect.fail(
      new ImportRefusedError("git in the sandbox could not pack them", undefined, stderr),
    );
  }
  return yield* fetchBundles(sandbox, report, hostPath);
});

const STATE_TIMEOUT_MS = 5000;

/** Whether the refs of the sandbox are still those that were exported, as far as it answers. */
export const isStillExported = (
  sandbox: SandboxRepository,
  { state }: Pick<SandboxExport, "state">,
): Effect.Effect<boolean> =>
  interruptible(
    (signal) =>
      sandbox.handle.exec(`${repositoryScript(sandbox)}\n${STATE_SCRIPT}`, {
        timeoutMs: STATE_TIMEOUT_MS,
        signal,
      }),
    (reason) => reason,
  ).pipe(
    Effect.map(({ stdout }) => stdout.split("\n").includes(`${REPORT.state}${state}`)),
    Effect.catch(() => Effect.succeed(true)),
  );
