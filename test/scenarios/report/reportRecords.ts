import { RECORD_SCHEMA, type ScenarioRecord } from "../../../src/scenarios/records/record.ts";

/** A record as the runner writes it, of a scenario that passed; with changes. */
export const runRecord = ({
  runner,
  ...changes
}: Omit<Partial<ScenarioRecord>, "runner"> & {
  readonly runner?: Partial<ScenarioRecord["runner"]>;
} = {}): ScenarioRecord => ({
  schema: RECORD_SCHEMA,
  test_id: "first",
  started_at: "2026-01-02T03:04:05.000Z",
  finished_at: "2026-01-02T03:04:06.500Z",
  duration_ms: 1500,
  manifest_version: "v1.2.3",
  runner: {
    kind: "cli",
    provider: null,
    model: null,
    sandbox: null,
    version: "sanddune/0.1.0",
    host: "linux",
    ...runner,
  },
  fixture: "fixtures/node-ts",
  ide_platform: null,
  result: "passing",
  steps: [{ name: "install", exit_code: 0, duration_ms: 1200, stdout_tail: "done", stderr_tail: "" }],
  assertions: [{ name: "file_exists a.txt", ok: true, detail: "a file of 3 bytes" }],
  notes: null,
  ci_run: { platform: "github", url: "https://ci.example/runs/1" },
  ...changes,
});

export const failingRecord = (changes: Parameters<typeof runRecord>[0] = {}): ScenarioRecord =>
  runRecord({
    result: "failing",
    assertions: [{ name: "file_exists a.txt", ok: false, detail: "there is nothing" }],
    notes: "failed assertions:\n  file_exists a.txt: there is nothing",
    ...changes,
  });

/** The time of a record, so many minutes after the others. */
export const minute = (number: number): { started_at: string } => ({
  started_at: new Date(Date.UTC(2026, 0, 2, 3, number)).toISOString(),
});
