import { arch, platform } from "node:os";
import { RECORD_SCHEMA, type ScenarioRecord } from "../records/record.ts";
import type { Execution } from "./executions.ts";
import type { ExecutionOutcome } from "./runScenario.ts";

/** The parts of a record that do not depend on the outcome. */
export interface RecordContext {
  readonly startedAt: Date;
  /** Identifies the suite run. */
  readonly suiteRunId: string;
  readonly version: string | undefined;
  readonly runnerVersion: string;
  readonly sandbox: string | null;
  /** `undefined` for an execution without an agent. */
  readonly agent: { readonly provider: string; readonly model: string | null } | undefined;
  readonly ciUrl: string | undefined;
}

const ciPlatform = (): string => {
  if (process.env["GITHUB_ACTIONS"] === "true") return "github-actions";
  return process.env["GITLAB_CI"] === "true" ? "gitlab-ci" : "ci";
};

export const buildRecord = (
  { scenario: { id, spec }, adapter, repeat }: Execution,
  outcome: ExecutionOutcome,
  { startedAt, suiteRunId, version, runnerVersion, sandbox, agent, ciUrl }: RecordContext,
): ScenarioRecord => {
  const finishedAt = new Date();
  return {
    schema: RECORD_SCHEMA,
    test_id: id,
    started_at: startedAt.toISOString(),
    finished_at: finishedAt.toISOString(),
    duration_ms: finishedAt.getTime() - startedAt.getTime(),
    manifest_version: version ?? null,
    runner: {
      kind: outcome.result === "manual" || adapter === undefined ? "manual" : adapter,
      provider: agent?.provider ?? null,
      model: agent?.model ?? null,
      sandbox,
      version: `sanddune/${runnerVersion}`,
      host: `${platform()} ${arch()} node ${process.version}`,
    },
    fixture: spec.fixture ?? null,
    ide_platform: spec.ide_platform ?? null,
    result: outcome.result,
    steps: outcome.steps,
    assertions: outcome.assertions,
    notes:
      [outcome.notes, outcome.result === "manual" ? spec.notes : undefined].filter(Boolean).join("\n") ||
      null,
    ci_run: ciUrl === undefined ? null : { platform: ciPlatform(), url: ciUrl },
    ...(repeat && { repeat: { ...repeat, go: suiteRunId } }),
  };
};
