export interface BenchOptions {
  readonly wanted: readonly string[];
  readonly rounds: number | undefined;
  readonly hasPeer: boolean;
  readonly isCheck: boolean;
  readonly isUpdate: boolean;
  readonly isHelp: boolean;
}

export declare const USAGE: string;
export declare const parseOptions: (args: readonly string[]) => BenchOptions;
export declare const selectNames: (names: readonly string[], wanted: readonly string[]) => readonly string[];
