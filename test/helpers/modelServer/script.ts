/** Tokens of one answer. `input` has no cached ones in it, `output` has the reasoning. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** A tool call, made with whichever of the agent's tools can do it, or with the tool of that name. */
export type ScriptedCall =
  | { readonly shell: string }
  | { readonly write: { readonly path: string; readonly content: string } }
  | { readonly name: string; readonly input?: unknown };

/** The answer to one request of the agent. */
export interface Turn {
  readonly text?: string;
  /** Reasoning, before the text. */
  readonly thinking?: string;
  /** After the text. */
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: Partial<ScriptedUsage>;
  /** An HTTP status instead of an answer. */
  readonly error?: number;
  /** What the error says, in the way of the dialect. */
  readonly message?: string;
  /** The error's body, exactly; instead of the dialect's own. */
  readonly body?: unknown;
  /** Headers of the error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds; short for that header. */
  readonly retryAfter?: number;
  /** How many requests get this turn; 1 if left out. */
  readonly times?: number;
  /** The connection breaks halfway through the text. */
  readonly cut?: boolean;
  /** There is no answer, ever. */
  readonly hang?: boolean;
  /** Waits before it answers. */
  readonly delayMs?: number;
  /** Waits for this before it answers. */
  readonly after?: () => Promise<void>;
  /** Waits after each piece of text. */
  readonly chunkMs?: number;
}

export type Script =
  | readonly Turn[]
  | {
      readonly turns: readonly Turn[];
      /**
       * Requests that offer no tools, e.g. for the title of a session: answered with something that does not matter,
       * unless they are to `count` as turns.
       */
      readonly sideRequests?: "free" | "count";
    };

const DEFAULT_USAGE: ScriptedUsage = {
  input: 1200,
  output: 34,
  cacheRead: 800,
  cacheWrite: 50,
  reasoning: 5,
};

export const usageOf = (turn: Turn): ScriptedUsage => ({ ...DEFAULT_USAGE, ...turn.usage });

const SIDE_ANSWER: Turn = { text: "side answer" };

/** Goes through a script, a turn for each request. The last turn repeats. */
export interface Player {
  answer(request: { readonly offersTools: boolean }): { readonly kind: "turn" | "side"; readonly turn: Turn };
}

export const playerOf = (script: Script): Player => {
  const { turns, sideRequests = "free" } = "turns" in script ? script : { turns: script };
  const queue = turns.flatMap((turn) => Array.from<Turn>({ length: turn.times ?? 1 }).fill(turn));
  if (queue.length === 0) throw new Error("a script needs a turn");
  let served = 0;
  return {
    answer: ({ offersTools }) => {
      if (!offersTools && sideRequests === "free") return { kind: "side", turn: SIDE_ANSWER };
      const turn = queue[Math.min(served++, queue.length - 1)] as Turn;
      return { kind: "turn", turn };
    },
  };
};
