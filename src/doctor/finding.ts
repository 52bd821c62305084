import {
  InternalError,
  PrerequisiteError,
  SandboxError,
  SandboxUnavailableError,
  SandduneError,
  UnsupportedRepositoryError,
} from "../errors.ts";

/** What one check has found out. */
export type Finding = {
  /** What was looked at. */
  readonly title: string;
  readonly detail: string;
} & (
  | { readonly state: "ok" }
  /** It has to be fixed before a run can succeed: by a command, where there is one. */
  | { readonly state: "failed"; readonly fix: string }
  /** It is worth knowing, and no more. */
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

/** What is not needed here may be missing. */
export const asNotes = (findings: readonly Finding[]): Finding[] =>
  findings.map((finding) => (finding.state === "failed" ? { ...finding, state: "note" } : finding));

/** A failure that a run would meet as well, and not a mistake in sanddune. */
export const isForeseen = (error: unknown): error is Error =>
  (error instanceof SandduneError && !(error instanceof InternalError)) ||
  // What the operating system refuses.
  (error instanceof Error && "syscall" in error);

/** The words that a run would have failed with. Many errors know their fix; `fix` is for those that do not. */
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

/** What a check finds; where it fails as a run would, that is the finding. */
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
