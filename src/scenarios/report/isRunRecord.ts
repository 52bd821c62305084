import { RECORD_SCHEMA, type RunRecord } from "./record.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => Number.isFinite(value);
const isFlag: Check = (value) => typeof value === "boolean";
/** As the runner writes it: other ways to write a time sort otherwise. */
const isTime: Check = (value) =>
  isText(value) &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value as string) &&
  !Number.isNaN(Date.parse(value as string));

const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const orNone =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(checks).every(([key, check]) => check((value as Record<string, unknown>)[key]));

const isRecord = fields({
  schema: oneOf(RECORD_SCHEMA),
  test_id: isText,
  started_at: isTime,
  finished_at: isTime,
  duration_ms: isNumber,
  manifest_version: orNull(isText),
  runner: fields({
    kind: oneOf("cli", "agent", "manual"),
    provider: orNull(isText),
    model: orNull(isText),
    sandbox: orNull(isText),
    version: isText,
    host: isText,
  }),
  fixture: orNull(isText),
  ide_platform: orNull(isText),
  result: oneOf("passing", "failing", "manual"),
  steps: listOf(
    fields({
      name: isText,
      exit_code: isNumber,
      duration_ms: isNumber,
      stdout_tail: orNone(isText),
      stderr_tail: orNone(isText),
      allow_nonzero: orNone(isFlag),
      manual: orNone(isFlag),
      tool_edits: orNone(listOf(fields({ name: isText, status: oneOf("completed", "error") }))),
      usage: orNone(
        fields({
          inputTokens: isNumber,
          cacheCreationInputTokens: isNumber,
          cacheReadInputTokens: isNumber,
          outputTokens: isNumber,
        }),
      ),
    }),
  ),
  assertions: listOf(fields({ name: isText, ok: isFlag, detail: isText })),
  notes: orNull(isText),
  ci_run: orNull(fields({ platform: isText, url: isText })),
  repeat: orNone(fields({ number: isNumber, of: isNumber, go: isText })),
});

/** Whether all that is ever shown of a record is what it should be: files can be edited, and merged by git. */
export const isRunRecord = (value: unknown): value is RunRecord => isRecord(value);
