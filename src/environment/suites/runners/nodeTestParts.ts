/** The runner's process. Those that it starts itself are guarded, and those that tests start are not. */
const RUNNER_VARIABLE = "SANDDUNE_TEST_RUNNER";

/**
 * Loaded before a test file, in the file's process. It prints a token once the tests are over, so that a process that was ended
 * before is known, however it was. An exit that code of the file asks for becomes a failure of the test that runs, and of all that
 * come after it: the process goes on just as long as it takes to tell what came of its tests. What the assertions of Node.js do
 * cannot be changed.
 */
export const NODE_GUARD = (token: string): string => `import assert from "node:assert";
import { writeSync } from "node:fs";
import { after, afterEach, beforeEach } from "node:test";
import { isMainThread } from "node:worker_threads";

const guard = () => {
  const leave = process.reallyExit.bind(process);
  let isOver = false;
  let ended;
  const refuse = () => {
    if (ended !== undefined) throw ended;
  };
  beforeEach(refuse);
  afterEach(refuse);
  after(() => {
    if (ended !== undefined) return;
    isOver = true;
    writeSync(1, "\\n${token}\\n");
  });
  const exit = (code) => {
    if (isOver) leave(code ?? process.exitCode ?? 0);
    ended ??= new Error("The process was to be ended before its tests had: this test, and those after it, have failed.");
    process.exitCode = 1;
    setTimeout(() => leave(1), 1000);
    throw ended;
  };
  for (const name of ["exit", "reallyExit"]) {
    Object.defineProperty(process, name, { value: exit, writable: true, configurable: true });
  }
  for (const each of [assert, assert.strict, assert.AssertionError]) Object.freeze(each);
};

if (isMainThread && process.env.${RUNNER_VARIABLE} === String(process.ppid)) guard();
`;

/** Of the error of a test, and of what a file printed before it failed as a whole. */
const MAX_CHARACTERS = 64 * 1024;

/** In the process of the runner, which loads neither tests nor the work. It writes events to file descriptor 3. */
export const NODE_REPORTER = (token: string): string => String.raw`import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { inspect } from "node:util";

process.env.${RUNNER_VARIABLE} = String(process.pid);
const MAX = ${MAX_CHARACTERS};
const say = (...event) => {
  const bytes = Buffer.from(JSON.stringify(event) + "\n");
  for (let start = 0; start < bytes.length; ) start += writeSync(3, bytes, start);
};
const files = new Map();
const fileOf = (path) => {
  if (!files.has(path)) files.set(path, { around: [], printed: "", hasEnded: false });
  return files.get(path);
};
const withoutInternals = (text) => text.split("\n").filter((line) => !/\(?node:internal\//.test(line)).join("\n");
const messageOf = (error) => {
  const cause = error?.cause ?? error;
  const words = cause instanceof Error ? (cause.stack ?? cause.message) : typeof cause === "string" ? cause : inspect(cause);
  const failure = cause === error || error?.message === cause?.message ? "" : (error?.failureType === "hookFailed" ? error.message + "\n" : "");
  return withoutInternals(failure + words).slice(0, MAX);
};

/** A file that reported no test is a test itself; one that was ended is not. */
const tellFile = (path, type, data) => {
  const file = fileOf(path);
  if (type === "test:fail") {
    const { error, duration_ms: duration } = data.details;
    say("test", path, [], "failed", duration, (file.printed.trim() + "\n" + messageOf(error)).trim());
  } else file.passed = data.details?.duration_ms ?? 0;
};

const tell = (path, type, data) => {
  const { name, nesting, skip, todo, details } = data;
  const { around } = fileOf(path);
  const own = around[nesting];
  const names = [...around.slice(0, nesting).map((each) => each.name), name];
  around.length = nesting;
  const hasFailed = type === "test:fail" && todo === undefined;
  const parent = around[nesting - 1];
  if (parent !== undefined) {
    parent.children++;
    if (hasFailed) parent.failed++;
  }
  const isLeft = skip !== undefined || todo !== undefined;
  const isGroup = own !== undefined && (own.children > 0 || details?.type === "suite");
  // That a group failed because of its tests is said by them.
  const isSaid = isGroup && (!hasFailed || own.failed > 0);
  const state = isLeft ? "skipped" : isSaid ? "group" : hasFailed ? "failed" : "passed";
  say("test", path, names, state, details?.duration_ms ?? 0, state === "failed" ? messageOf(details.error) : "");
};

export default async function* report(source) {
  let last;
  for await (const { type, data: given } of source) {
    // Some versions tell of files as they were named.
    const data = given?.file === undefined ? given : { ...given, file: resolve(given.file) };
    const path = files.has(data?.file) ? data.file : (last ?? data?.file);
    const isFile = data?.nesting === 0 && data.file !== undefined && resolve(data.name) === data.file;
    if (type === "test:enqueue" && isFile) {
      fileOf(data.file);
      say("files", [data.file]);
    } else if (type === "test:enqueue" && data.nesting === 0 && files.has(data.file)) {
      say("known", data.file, [[data.name]]);
    } else if (type === "test:stdout" || type === "test:stderr") {
      const file = fileOf(data.file);
      file.printed = (file.printed + data.message).slice(-MAX);
      if (type === "test:stdout" && file.printed.includes("${token}")) file.hasEnded = true;
      yield data.message.replace(/\n?${token}\n?/, "");
    } else if (type === "test:start") {
      last = data.file;
      if (!isFile) fileOf(path).around[data.nesting] = { name: data.name, children: 0, failed: 0 };
    } else if (type === "test:pass" || type === "test:fail") {
      if (isFile) tellFile(data.file, type, data);
      else tell(path, type, data);
    }
  }
  for (const [path, { hasEnded, passed }] of files) {
    if (!hasEnded) continue;
    if (passed !== undefined) say("test", path, [], "passed", passed, "");
    say("ended", path);
  }
  say("end");
}
`;
