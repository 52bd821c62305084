/** Text that a step writes to a file of the project. */
export interface FileText {
  /** Relative to the project. */
  readonly path: string;
  readonly content: string;
}

interface StepSettings {
  readonly name?: string;
  /** Continue with the next step whatever the exit code is, except after a timeout. */
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

/** Gives a prompt to a coding agent: the prompt that the word `agent` stands for, or its own. */
export interface AgentStep extends StepSettings {
  readonly agent: string;
  readonly prompt?: string;
  readonly model?: string;
}

/** A step that needs no agent. */
export type PlainStep = CliStep | CommandStep | AppendStep | WriteStep;

export type ScenarioStep = PlainStep | AgentStep;

/** A statement about the project that must be true after the steps. Paths are relative to the project. */
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

/** What can execute a scenario: the suite's tool, an agent, both, or only a person. */
export type Runnable = "cli" | "agent" | "both" | "manual";

/** The JSON block of a scenario page. */
export interface ScenarioSpec {
  readonly runnable: Runnable;
  /** A directory, relative to the suite's `fixturesRoot`. Only manual scenarios can omit it. */
  readonly fixture?: string;
  readonly ide_platform?: string;
  readonly prerequisites?: readonly PlainStep[];
  readonly steps?: readonly ScenarioStep[];
  readonly assertions?: readonly Assertion[];
  /**
   * Files of the project that assertions use, and that no agent may change: they are restored before each command and
   * assertion that follows an agent.
   */
  readonly helpers?: readonly string[];
  readonly notes?: string;
}

/** A scenario, as its page describes it. */
export interface Scenario {
  readonly id: string;
  /** The page's first heading, else the id. */
  readonly title: string;
  /** The page, absolute. */
  readonly page: string;
  readonly spec: ScenarioSpec;
  /** The line of the page that names the fixture. */
  readonly fixtureLine?: number;
}

export const isAgentStep = (step: ScenarioStep): step is AgentStep => "agent" in step;
