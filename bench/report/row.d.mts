interface Figures {
  readonly rawMs: number;
  readonly ownMs: number;
  readonly peerMs?: number;
}

export interface Target {
  readonly text: string;
  readonly figure: (figures: Figures) => string;
  readonly isMet: (figures: Figures) => boolean | undefined;
}

export interface Row {
  readonly id: string;
  readonly name: string;
  readonly raw: string;
  readonly peer: string;
  readonly own: string;
  readonly figure: string;
  readonly target: string;
  readonly isMet: boolean | undefined;
  readonly ratio: number;
}

interface Samples {
  readonly raw: readonly number[];
  readonly peer?: readonly number[];
  readonly own: readonly number[];
}

export declare const atMostTimes: (limit: number, note?: string) => Target;
export declare const atMostAdded: (limitMs: number) => Target;
export declare const within: (limitMs: number) => Target;
export declare const fasterThanPeer: (factor: number) => Target;
export declare const timeRow: (options: {
  readonly id: string;
  readonly name: string;
  readonly samples: Samples;
  readonly target?: Target;
  readonly against?: string;
}) => Row;
