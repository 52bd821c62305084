import { isUsage } from "../../options/usage.ts";
import {
  isDate,
  isFlag,
  isNumber,
  isText,
  listOf,
  objectWith,
  oneOf,
  optional,
  orNull,
  type Predicate,
} from "../../tools/values/predicates.ts";
import { RECORD_SCHEMA, type ScenarioRecord } from "./record.ts";

/** The runner's own format: times in other formats sort differently. */
const isTime: Predicate = (value) => isDate(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);

const isRecord = objectWith({
  schema: oneOf(RECORD_SCHEMA),
  test_id: isText,
  started_at: isTime,
  finished_at: isTime,
  duration_ms: isNumber,
  manifest_version: orNull(isText),
  runner: objectWith({
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
    objectWith({
      name: isText,
      exit_code: isNumber,
      duration_ms: isNumber,
      stdout_tail: optional(isText),
      stderr_tail: optional(isText),
      allow_nonzero: optional(isFlag),
      manual: optional(isFlag),
      tool_edits: optional(listOf(objectWith({ name: isText, status: oneOf("completed", "error") }))),
      usage: optional(isUsage),
    }),
  ),
  assertions: listOf(objectWith({ name: isText, ok: isFlag, detail: isText })),
  notes: orNull(isText),
  ci_run: orNull(objectWith({ platform: isText, url: isText })),
  repeat: optional(objectWith({ number: isNumber, of: isNumber, go: isText })),
});

/** Whether all fields of a record that are ever shown are valid: the files can be edited, and merged by git. */
export const isScenarioRecord = (value: unknown): value is ScenarioRecord => isRecord(value);
