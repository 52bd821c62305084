/** A text that a step writes into a file of the project. */
export interface FileText {
  /** Relative to the project. */
  readonly path: string;
  readonly content: string;
}

interface StepSettings {
  readonly name?: string;
  /** Go on with the next step however this one ends, unless it takes too long. */
  readonly allow_nonzero?: boolean;
  readonly timeout_ms?: number;
}

/** A subcommand of the suite's command-line tool. */
export interface CliStep extends StepSettings {
  readonly cli: string;
  readonly flags?: readonly string[];
}

/** Any program with its arguments; no shell. */
export interface CommandStep extends StepSettings {
  readonly cmd: readonly string[];
}

export interface AppendStep extends StepSettings {
  readonly append_to_file: FileText;
}

export interface WriteStep extends StepSettings {
  readonly write_file: FileText;
}

/** Hands a prompt to a coding agent: that of the word, or its own. */
export interface AgentStep extends StepSettings {
  readonly agent: string;
  readonly prompt?: string;
  readonly model?: string;
}

/** What is done without an agent. */
export type PlainStep = CliStep | CommandStep | AppendStep | WriteStep;

export type ScenarioStep = PlainStep | AgentStep;

/** What has to be true of the project when all steps are done. Paths are relative to the project. */
export type Assertion =
  | { readonly file_exists: string }
  | { readonly file_absent: string }
  | { readonly dir_exists: string }
  | { readonly dir_absent: string }
  | { readonly file_contains: { readonly path: string; readonly substr: string } }
  | { readonly file_matches: { readonly path: string; readonly regex: string } }
  | { readonly sha256_equals: { readonly path: string; readonly sha256: string } }
  | { readonly cmd_zero: readonly string[] }
  | { readonly cmd_nonzero: readonly string[] }
  | { readonly git_clean: boolean };

export type Runnable = "cli" | "agent" | "both" | "manual";

/** The JSON block of a scenario page. */
export interface ScenarioSpec {
  readonly runnable: Runnable;
  /** A directory, relative to the suite's `fixturesRoot`. Only what is never executed can do without. */
  readonly fixture?: string;
  readonly ide_platform?: string;
  readonly prerequisites?: readonly PlainStep[];
  readonly steps?: readonly ScenarioStep[];
  readonly assertions?: readonly Assertion[];
  /**
   * Files of the project that assertions use, and that no agent may change: they are put back before each command and
   * assertion after it.
   */
  readonly helpers?: readonly string[];
  readonly notes?: string;
}

/** A page that describes a scenario, and grades it. */
export interface Scenario {
  readonly id: string;
  /** For people: from the page's first heading, else the id. */
  readonly title: string;
  /** The page, absolute. */
  readonly page: string;
  readonly spec: ScenarioSpec;
  /** Where the page names its fixture. */
  readonly fixtureLine?: number;
}

export const isAgentStep = (step: ScenarioStep): step is AgentStep => "agent" in step;
