interface Config {
  /** The configuration of the environment, if it has one. */
  readonly own: string | undefined;
  readonly root: string;
  readonly cache: string;
}

/** In the place of what vitest would find in the work. The folder of the environment may be read-only. */
export const VITEST_CONFIG = ({ own, root, cache }: Config): string => `import { resolve } from "node:path";
${own === undefined ? "const own = {};" : `import own from ${JSON.stringify(own)};`}
const root = ${JSON.stringify(root)};
export default async (env) => {
  const config = (await (typeof own === "function" ? own(env) : own)) ?? {};
  return { ...config, root: resolve(root, config.root ?? "."), cacheDir: ${JSON.stringify(cache)} };
};
`;

/** Of the errors of a test. */
const MAX_CHARACTERS = 64 * 1024;

/**
 * In the main process of vitest, which transforms the work and does not run it. A test whose worker has ended is pending for
 * vitest to the last, and its own JUnit report calls that passed: here such a test has told nothing.
 */
export const VITEST_REPORTER = String.raw`import { writeSync } from "node:fs";

const say = (...event) => {
  const bytes = Buffer.from(JSON.stringify(event) + "\n");
  for (let start = 0; start < bytes.length; ) start += writeSync(3, bytes, start);
};
const messageOf = (task) =>
  (task.result?.errors ?? [])
    .map(({ stack, message, diff }) => [stack || message || "", diff].filter(Boolean).join("\n\n"))
    .join("\n\n")
    .slice(0, ${MAX_CHARACTERS});
const stateOf = ({ mode, result }) => {
  const state = result?.state;
  if (state === "fail") return "failed";
  if (state === "pass") return "passed";
  return mode === "skip" || mode === "todo" || state === "skip" || state === "todo" ? "skipped" : undefined;
};

/** Tells of a task and of what is in it; whether something in it has failed. */
const tell = (path, task, names) => {
  const failures = (task.tasks ?? []).map((each) => tell(path, each, [...names, each.name]));
  const state = stateOf(task);
  const isTest = task.tasks === undefined;
  if (isTest && state === undefined) say("known", path, [names]);
  // That a group failed because of its tests is said by them.
  if (isTest ? state !== undefined : state === "failed" && !failures.includes(true))
    say("test", path, names, state, task.result?.duration ?? 0, state === "failed" ? messageOf(task) : "");
  return state === "failed" || failures.includes(true);
};

const ENDED = ["pass", "fail", "skip"];
const finish = (files) => {
  for (const file of files) {
    say("files", [file.filepath]);
    tell(file.filepath, file, []);
    if (ENDED.includes(file.result?.state) || file.mode === "skip") say("ended", file.filepath);
  }
  say("end");
};

export default class {
  isDone = false;
  onTestRunStart(specifications) {
    say("files", specifications.map(({ moduleId }) => moduleId));
  }
  onTestModuleCollected(module) {
    const namesOf = (test) => (test.parent.type === "module" ? [test.name] : [...namesOf(test.parent), test.name]);
    say("known", module.moduleId, [...module.children.allTests()].map(namesOf));
  }
  onTestRunEnd(modules) {
    this.finish(modules.map(({ task }) => task));
  }
  /** Of vitest before 3, which knows no other; vitest 3 calls both. */
  onFinished(files = []) {
    this.finish(files);
  }
  finish(files) {
    if (!this.isDone) finish(files);
    this.isDone = true;
  }
}
`;
