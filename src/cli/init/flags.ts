/** The flags of `sanddune init`, as the parser returns them. */
export interface InitFlags {
  readonly cwd?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly agentCommand?: string;
  readonly sandbox?: string;
  readonly template?: string;
  readonly backlog?: string;
  readonly imageName?: string;
  readonly base?: string;
  /** `false` with `--no-build`. */
  readonly build: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** A question of init, and the flag that answers it. */
export interface Question {
  readonly flag: string;
  readonly text: string;
  /** The possible answers with their meaning. Without it, any text is an answer. */
  readonly choices?: Readonly<Record<string, string>>;
  /** The answer of most people. */
  readonly byDefault?: string;
  readonly example?: string;
}

export type Ask = (question: Question) => Promise<string>;
