import type { IterationUsage } from "../../options/results.ts";

export const RECORD_SCHEMA = "sanddune.scenario-run/v1";
export const INDEX_SCHEMA = "sanddune.scenario-runs-index/v1";

/** `manual` is not a verdict: a person has to execute the scenario. */
export type ScenarioResult = "passing" | "failing" | "manual";

/** How one step of an execution went. */
export interface StepRecord {
  readonly name: string;
  /** 124 after a timeout, 127 if the program is missing, 128 + n if signal n ended it. */
  readonly exit_code: number;
  readonly duration_ms: number;
  readonly stdout_tail?: string;
  readonly stderr_tail?: string;
  /** It failed, which the page allows. */
  readonly allow_nonzero?: true;
  /** The agent was not available; why is in the record's notes. */
  readonly manual?: boolean;
  /** The agent's tool calls, with how they ended. */
  readonly tool_edits?: readonly { readonly name: string; readonly status: "completed" | "error" }[];
  readonly usage?: IterationUsage;
}

/** The verdict on one assertion. */
export interface AssertionRecord {
  readonly name: string;
  readonly ok: boolean;
  /** A description of what was found. */
  readonly detail: string;
}

/** How one execution of a scenario went: the content of `runs/<test_id>/<timestamp>.json`. */
export interface ScenarioRecord {
  readonly schema: typeof RECORD_SCHEMA;
  readonly test_id: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly duration_ms: number;
  /** The version of the tested product, with a `v` before it; `null` if the suite has no `versionFile`. */
  readonly manifest_version: string | null;
  readonly runner: {
    readonly kind: "cli" | "agent" | "manual";
    /** The agent provider; `null` without an agent. */
    readonly provider: string | null;
    readonly model: string | null;
    /** The sandbox provider's name; `null` for the host itself. */
    readonly sandbox: string | null;
    readonly version: string;
    readonly host: string;
  };
  readonly fixture: string | null;
  readonly ide_platform: string | null;
  readonly result: ScenarioResult;
  readonly steps: readonly StepRecord[];
  readonly assertions: readonly AssertionRecord[];
  readonly notes: string | null;
  readonly ci_run: { readonly platform: string; readonly url: string } | null;
  /** Set if the scenario was repeated in one suite run: which execution of how many, and the suite run id as `go`. */
  readonly repeat?: { readonly number: number; readonly of: number; readonly go: string };
}

/** The newest record of each scenario: the content of `runs/index.json`. */
export interface RunsIndex {
  readonly schema: typeof INDEX_SCHEMA;
  readonly generated_at: string;
  readonly latest: Readonly<Record<string, IndexEntry>>;
}

export interface IndexEntry {
  readonly started_at: string;
  readonly manifest_version: string | null;
  readonly result: ScenarioResult;
  readonly runner_kind: ScenarioRecord["runner"]["kind"];
  readonly runner_provider: string | null;
  readonly duration_ms: number;
  /** Relative to the directory that `runs/` is in. */
  readonly record_path: string;
}
