/**
 * The reporter of vitest. It runs in vitest's main process, which transforms the work and does not run it. For vitest, a test
 * whose worker has ended stays pending to the end, and its own JUnit report calls that passed: here such a test has no result.
 */
import { MAX_CHARACTERS, report } from "./channel.ts";

/** A file, a group or a test of vitest. */
interface Task {
  readonly name: string;
  readonly mode?: string;
  /** Of a file and of a group. */
  readonly tasks?: readonly Task[];
  readonly result?: {
    readonly state?: string;
    readonly duration?: number;
    readonly errors?: readonly {
      readonly stack?: string;
      readonly message?: string;
      readonly diff?: string;
    }[];
  };
}

interface FileTask extends Task {
  readonly filepath: string;
}

interface TestCase {
  readonly name: string;
  readonly parent: TestCase & { readonly type: string };
}

interface TestModule {
  readonly moduleId: string;
  readonly task: FileTask;
  readonly children: { allTests(): Iterable<TestCase> };
}

const messageOf = ({ result }: Task): string =>
  (result?.errors ?? [])
    .map(({ stack, message, diff }) => [stack || message || "", diff].filter(Boolean).join("\n\n"))
    .join("\n\n")
    .slice(0, MAX_CHARACTERS);

const stateOf = ({ mode, result }: Task): "passed" | "failed" | "skipped" | undefined => {
  const state = result?.state;
  if (state === "fail") return "failed";
  if (state === "pass") return "passed";
  return mode === "skip" || mode === "todo" || state === "skip" || state === "todo" ? "skipped" : undefined;
};

/** Reports a task and everything in it. Returns whether something in it has failed. */
const reportTask = (path: string, task: Task, names: readonly string[]): boolean => {
  const failures = (task.tasks ?? []).map((each) => reportTask(path, each, [...names, each.name]));
  const state = stateOf(task);
  const isTest = task.tasks === undefined;
  if (isTest && state === undefined) report("known", path, [names]);
  // The tests of a group report their failures themselves.
  const isReported = isTest || (state === "failed" && !failures.includes(true));
  if (state !== undefined && isReported)
    report("test", path, names, state, task.result?.duration ?? 0, state === "failed" ? messageOf(task) : "");
  return state === "failed" || failures.includes(true);
};

const ENDED = ["pass", "fail", "skip"];

const finish = (files: readonly FileTask[]): void => {
  for (const file of files) {
    report("files", [file.filepath]);
    reportTask(file.filepath, file, []);
    if (ENDED.includes(file.result?.state ?? "") || file.mode === "skip") report("ended", file.filepath);
  }
  report("end");
};

const namesOf = (test: TestCase): string[] =>
  test.parent.type === "module" ? [test.name] : [...namesOf(test.parent), test.name];

export default class {
  isDone = false;
  onTestRunStart(specifications: readonly { readonly moduleId: string }[]): void {
    report(
      "files",
      specifications.map(({ moduleId }) => moduleId),
    );
  }
  onTestModuleCollected({ moduleId, children }: TestModule): void {
    report("known", moduleId, [...children.allTests()].map(namesOf));
  }
  onTestRunEnd(modules: readonly TestModule[]): void {
    this.finish(modules.map(({ task }) => task));
  }
  /** For vitest before 3, which calls nothing else; vitest 3 calls both. */
  onFinished(files: readonly FileTask[] = []): void {
    this.finish(files);
  }
  finish(files: readonly FileTask[]): void {
    if (!this.isDone) finish(files);
    this.isDone = true;
  }
}
