export interface MeasuredRow {
  readonly id: string;
  /** The higher, the worse. */
  readonly ratio: number;
  /** A difference that means nothing, whatever its share. */
  readonly noise?: number;
}

export interface Comparison {
  /** The number of rows that have a committed ratio. */
  readonly compared: number;
  readonly worse: readonly { readonly id: string; readonly committed: number; readonly measured: number }[];
  readonly notCompared: readonly { readonly id: string; readonly reason: string }[];
}

export declare const updatedRatios: (
  committed: Record<string, number>,
  rows: readonly MeasuredRow[],
) => Record<string, number>;

export declare const compareRatios: (results: {
  readonly committed: Record<string, number>;
  readonly rows: readonly MeasuredRow[];
  readonly benchmarks: readonly { readonly name: string; readonly problem?: string }[];
}) => Comparison;

export declare const betterOf: (
  rows: readonly MeasuredRow[],
  again: readonly MeasuredRow[],
) => readonly MeasuredRow[];

export declare const isPassed: (comparison: Comparison) => boolean;

export declare const comparisonText: (comparison: Comparison) => string;
