import {
  InternalError,
  PrerequisiteError,
  SandboxError,
  SandboxUnavailableError,
  SandduneError,
  UnsupportedRepositoryError,
} from "../errors.ts";

/** The result of one check. */
export type Finding = {
  /** The checked thing. */
  readonly title: string;
  readonly detail: string;
} & (
  | { readonly state: "ok" }
  /** It has to be fixed before a run can succeed, if possible by a command. */
  | { readonly state: "failed"; readonly fix: string }
  /** For information only. */
  | { readonly state: "note"; readonly fix?: string }
);

export const ok = (title: string, detail: string): Finding => ({ title, state: "ok", detail });

export const failed = (title: string, detail: string, fix: string): Finding => ({
  ...{ title, state: "failed", detail, fix },
});

export const note = (title: string, detail: string, fix?: string): Finding => ({
  ...{ title, state: "note", detail },
  ...(fix !== undefined && { fix }),
});

/** Turns failures into notes, for things that are not needed. */
export const asNotes = (findings: readonly Finding[]): Finding[] =>
  findings.map((finding) => (finding.state === "failed" ? { ...finding, state: "note" } : finding));

/** A failure that a run would have as well, and not a bug in sanddune. */
export const isForeseen = (error: unknown): error is Error =>
  (error instanceof SandduneError && !(error instanceof InternalError)) ||
  // An error of the operating system.
  (error instanceof Error && "syscall" in error);

/** The finding for a run's error. Many errors know their fix; `fix` is for the others. */
export const failedWith = (title: string, error: Error, fix: string): Finding => {
  if (error instanceof SandboxUnavailableError || error instanceof PrerequisiteError) {
    return failed(title, error.problem, error.hint);
  }
  if (error instanceof UnsupportedRepositoryError) {
    return failed(title, `${error.cwd} ${error.problem}`, error.hint);
  }
  if (error instanceof SandboxError) {
    return failed(title, [error.problem, error.output].join("\n").trim(), fix);
  }
  return failed(title, error.message, fix);
};

/** Runs a check. If it fails as a run would, that is the finding. */
export const attempt = async (
  title: string,
  fix: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> => {
  try {
    return await check();
  } catch (error) {
    if (isForeseen(error)) return [failedWith(title, error, fix)];
    throw error;
  }
};
