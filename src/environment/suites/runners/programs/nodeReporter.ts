/** The reporter of `node --test`. It runs in the runner's process, which loads neither tests nor the work. */
import { resolve } from "node:path";
import { inspect } from "node:util";
import { MAX_CHARACTERS, RUNNER_VARIABLE, report } from "./channel.ts";

declare const SANDDUNE_END_TOKEN: string;

process.env[RUNNER_VARIABLE] = String(process.pid);

interface NodeTestError {
  readonly cause?: unknown;
  readonly message?: string;
  readonly failureType?: string;
}

/** The data of an event of `node --test`: each type of event has some of it. */
interface EventData {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly message: string;
  readonly skip?: unknown;
  readonly todo?: unknown;
  readonly details?: {
    readonly duration_ms?: number;
    readonly type?: string;
    readonly error?: NodeTestError;
  };
}

interface NodeTestEvent {
  readonly type: string;
  readonly data: EventData;
}

/** A test that runs, or a group of tests. */
interface Running {
  readonly name: string;
  children: number;
  failed: number;
}

interface TestFile {
  /** The running tests by their nesting. */
  readonly running: Running[];
  printed: string;
  hasEnded: boolean;
  passedAfterMs?: number;
}

const files = new Map<string | undefined, TestFile>();
const fileOf = (path: string | undefined): TestFile => {
  const known = files.get(path) ?? { running: [], printed: "", hasEnded: false };
  files.set(path, known);
  return known;
};

const withoutInternals = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !/\(?node:internal\//.test(line))
    .join("\n");

const messageOf = (error: NodeTestError | undefined): string => {
  const cause = error?.cause ?? error;
  const words =
    cause instanceof Error
      ? (cause.stack ?? cause.message)
      : typeof cause === "string"
        ? cause
        : inspect(cause);
  const isHook = error?.failureType === "hookFailed" && error.message !== (cause as NodeTestError)?.message;
  return withoutInternals(isHook ? `${error.message}\n${words}` : words).slice(0, MAX_CHARACTERS);
};

/** A file without tests is a test itself, unless its process ended early. */
const reportFile = (path: string, type: string, { details }: EventData): void => {
  const file = fileOf(path);
  const durationMs = details?.duration_ms ?? 0;
  if (type === "test:pass") file.passedAfterMs = durationMs;
  else {
    const message = `${file.printed.trim()}\n${messageOf(details?.error)}`.trim();
    report("test", path, [], "failed", durationMs, message);
  }
};

const reportTest = (path: string, type: string, { name, nesting, skip, todo, details }: EventData): void => {
  const { running } = fileOf(path);
  const own = running[nesting];
  const names = [...running.slice(0, nesting).map((each) => each.name), name];
  running.length = nesting;
  const hasFailed = type === "test:fail" && todo === undefined;
  const parent = running[nesting - 1];
  if (parent !== undefined) {
    parent.children++;
    if (hasFailed) parent.failed++;
  }
  const isSkipped = skip !== undefined || todo !== undefined;
  const isGroup = own !== undefined && (own.children > 0 || details?.type === "suite");
  // The tests of a group report their failures themselves.
  const hasOwnFailure = hasFailed && !(isGroup && own.failed > 0);
  const state = isSkipped ? "skipped" : hasOwnFailure ? "failed" : isGroup ? "group" : "passed";
  const message = state === "failed" ? messageOf(details?.error) : "";
  report("test", path, names, state, details?.duration_ms ?? 0, message);
};

const END_LINE = new RegExp(`\n?${SANDDUNE_END_TOKEN}\n?`);

export default async function* reporter(source: AsyncIterable<NodeTestEvent>): AsyncGenerator<string> {
  let last: string | undefined;
  for await (const { type, data: given } of source) {
    // Some versions name files as they were given on the command line.
    const data = given?.file === undefined ? given : { ...given, file: resolve(given.file) };
    const path = files.has(data?.file) ? data.file : (last ?? data?.file);
    const isFile = data?.nesting === 0 && data.file !== undefined && resolve(data.name) === data.file;
    if (type === "test:enqueue" && isFile) {
      fileOf(data.file);
      report("files", [String(data.file)]);
    } else if (type === "test:enqueue" && data.nesting === 0 && files.has(data.file)) {
      report("known", String(data.file), [[data.name]]);
    } else if (type === "test:stdout" || type === "test:stderr") {
      const file = fileOf(data.file);
      file.printed = (file.printed + data.message).slice(-MAX_CHARACTERS);
      if (type === "test:stdout" && file.printed.includes(SANDDUNE_END_TOKEN)) file.hasEnded = true;
      yield data.message.replace(END_LINE, "");
    } else if (type === "test:start") {
      last = data.file;
      if (!isFile) fileOf(path).running[data.nesting] = { name: data.name, children: 0, failed: 0 };
    } else if (type === "test:pass" || type === "test:fail") {
      if (isFile) reportFile(String(data.file), type, data);
      else reportTest(String(path), type, data);
    }
  }
  for (const [path, { hasEnded, passedAfterMs }] of files) {
    if (!hasEnded) continue;
    if (passedAfterMs !== undefined) report("test", String(path), [], "passed", passedAfterMs, "");
    report("ended", String(path));
  }
  report("end");
}
