/** What came of the recovery of a run. */
export interface Recovery {
  readonly runId: string;
  /** Everything that was done, or could not be done, in sentences. Empty if there was nothing to do. */
  readonly told: readonly string[];
  /** The branch that the run worked on; `undefined` if HEAD was detached. */
  readonly branch: string | undefined;
  /** How many commits were put on it. */
  readonly commits: number;
  /** Why some of the work is still where the sandbox left it; `undefined` if none is. */
  readonly kept: string | undefined;
}

/** All there is to say about a recovery. */
export const sentencesOf = ({ told, kept }: Recovery): string[] => [
  ...told,
  ...(kept === undefined ? [] : [kept]),
];
