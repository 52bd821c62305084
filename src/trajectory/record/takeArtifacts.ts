import type { Artifact } from "../../options/results.ts";
import { redactData } from "../../redaction/redactData.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { takeArtifacts } from "./artifacts.ts";
import { artifactsDirectory } from "./file.ts";

/** After an abort, the caller is waiting. */
const TIMEOUT_MS = { afterSuccess: 120_000, afterFailure: 15_000 } as const;

/** The run that the artifacts belong to. */
export interface ArtifactsOwner {
  readonly journal: { readonly runDirectory: string };
  readonly redactor: Redactor;
  readonly progress: { artifacts: readonly Artifact[] | undefined };
}

/** Copies the artifacts of a run to its directory, and adds them to its result. Problems are warnings. */
export const bringArtifacts = async (
  { progress, redactor, journal }: ArtifactsOwner,
  handle: SandboxHandle,
  globs: readonly string[],
  { failed, warn }: { readonly failed: boolean; readonly warn: (sentence: string) => void },
): Promise<readonly Artifact[]> => {
  const timeoutMs = failed ? TIMEOUT_MS.afterFailure : TIMEOUT_MS.afterSuccess;
  const directory = artifactsDirectory(journal.runDirectory);
  const { artifacts, problems } = await takeArtifacts(handle, globs, directory, timeoutMs);
  for (const problem of problems) warn(problem);
  progress.artifacts = redactData(redactor, artifacts);
  return progress.artifacts;
};
