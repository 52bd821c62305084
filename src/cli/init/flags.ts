/** The flags of `sanddune init`, as the parser hands them over. */
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

/** Something that init has to know, and the flag that says it. */
export interface Question {
  readonly flag: string;
  readonly text: string;
  /** The possible answers, with what they mean; any text when this is left out. */
  readonly choices?: Readonly<Record<string, string>>;
  /** What most people want. */
  readonly byDefault?: string;
  readonly example?: string;
}

export type Ask = (question: Question) => Promise<string>;
