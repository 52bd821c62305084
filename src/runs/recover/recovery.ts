/** The result of the recovery of a run. */
export interface Recovery {
  readonly runId: string;
  /** What was done, or could not be done, in sentences. Empty if there was nothing to do. */
  readonly told: readonly string[];
  /** The branch that the run worked on; `undefined` if HEAD was detached. */
  readonly branch: string | undefined;
  /** The number of commits imported onto it. */
  readonly commits: number;
  /** Why some work could not be imported; `undefined` if all was. */
  readonly kept: string | undefined;
}

export const sentencesOf = ({ told, kept }: Recovery): string[] => [
  ...told,
  ...(kept === undefined ? [] : [kept]),
];
