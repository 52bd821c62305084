import * as Effect from "effect/Effect";
import { interruptible } from "../../../boundary/interruptible.ts";
import { ImportRefusedError, type SandduneError } from "../../../errors.ts";
import { repositoryScript, type SandboxRepository } from "../sandboxRepository.ts";
import { parseReport, REPORT } from "./exportReport.ts";
import { fetchBundles, type SandboxExport } from "./fetchBundles.ts";
import { exclusions, type PackOrder, packScript, STATE_SCRIPT } from "./packScript.ts";

/** Selects what a sandbox exports. */
export interface ExportRequest extends PackOrder {
  /** Commits that the host has: they are not packed. */
  readonly knownCommits: readonly string[];
  readonly timeoutMs: number;
}

/** Packs all new commits in the sandbox, and copies the bundle to `hostPath`. */
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

/** Whether the refs of the sandbox are still those that were exported. A sandbox that does not answer counts as unchanged. */
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
