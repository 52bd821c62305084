/**
 * Loaded before a test file, in the file's process. It prints a token once the tests are over, so that a process that ended
 * early is detected, whatever ended it. A call of `process.exit` fails the running test and all tests after it: the process
 * continues just long enough to report the results. Nobody can change what the assertions of Node.js do.
 */
import assert from "node:assert";
import { writeSync } from "node:fs";
import { after, afterEach, beforeEach } from "node:test";
import { isMainThread } from "node:worker_threads";
import { RUNNER_VARIABLE } from "./channel.ts";

declare const SANDDUNE_END_TOKEN: string;

const guard = () => {
  const { reallyExit } = process as unknown as { reallyExit(code: unknown): never };
  const leave = reallyExit.bind(process);
  let isOver = false;
  let ended: Error | undefined;
  const refuse = () => {
    if (ended !== undefined) throw ended;
  };
  beforeEach(refuse);
  afterEach(refuse);
  after(() => {
    if (ended !== undefined) return;
    isOver = true;
    writeSync(1, `\n${SANDDUNE_END_TOKEN}\n`);
  });
  const exit = (code?: unknown) => {
    if (isOver) leave(code ?? process.exitCode ?? 0);
    ended ??= new Error(
      "The process was asked to exit before its tests were over: this test, and those after it, have failed.",
    );
    process.exitCode = 1;
    setTimeout(() => leave(1), 1000);
    throw ended;
  };
  for (const name of ["exit", "reallyExit"]) {
    Object.defineProperty(process, name, { value: exit, writable: true, configurable: true });
  }
  for (const each of [assert, assert.strict, assert.AssertionError]) Object.freeze(each);
};

if (isMainThread && process.env[RUNNER_VARIABLE] === String(process.ppid)) guard();
