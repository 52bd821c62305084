import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../../boundary/interruptible.ts";
import type { SandduneError } from "../../../errors.ts";
import type { SandboxRepository } from "../sandboxRepository.ts";
import { copyUntrustedFile } from "./copyUntrustedFile.ts";
import type { ExportReport } from "./exportReport.ts";
import { BUNDLE, CHECKPOINTS_BUNDLE } from "./packScript.ts";

/** An export on the host: the report of the sandbox, and the bundles that belong to it. */
export interface SandboxExport extends Omit<ExportReport, "hasBundle" | "hasCheckpoints"> {
  /** The bundle of all new commits, if there are any. */
  readonly bundlePath: string | undefined;
  /** The bundle of checkpoints, if there are any. */
  readonly checkpointsPath: string | undefined;
}

/** Copies a file from the sandbox's git directory to the host. */
export const fetchFile = (
  { handle, gitDirectory, hostGitDirectory }: SandboxRepository,
  name: string,
  hostPath: string,
  maxBytes?: number,
): Promise<void> =>
  hostGitDirectory === undefined
    ? handle.copyFileOut(`${gitDirectory}/${name}`, hostPath)
    : copyUntrustedFile(join(hostGitDirectory, name), hostPath, maxBytes);

const fetchBundle = (sandbox: SandboxRepository, name: string, hostPath: string) =>
  interruptible(() => fetchFile(sandbox, name, hostPath)).pipe(Effect.as(hostPath));

/** Copies the bundles of a report to the host. A missing bundle of checkpoints does not fail the export of commits. */
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
  // A sandbox that shares the worktree's files with the host has no reason to export uncommitted ones.
  const isIsolated = sandbox.hostGitDirectory === undefined;
  return { ...rest, uncommitted: isIsolated ? uncommitted : undefined, bundlePath, checkpointsPath };
});
