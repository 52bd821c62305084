import { type Check, callback, problemOf, text } from "../../options/checks/checks.ts";
import { isOptionsObject, kindOf } from "../../options/checks/valueKind.ts";
import { isCount, isFlag, isText, objectWith, type Predicate } from "../../tools/values/predicates.ts";

export type ProviderType = "bind-mount" | "isolated" | "none";

const absolutePath: Check = (value) =>
  typeof value === "string" && value.startsWith("/") ? undefined : "must be an absolute path";
const ifPresent =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

const ANY_HANDLE: Readonly<Record<string, Check>> = {
  name: text,
  worktreePath: absolutePath,
  exec: callback,
  interactiveExec: ifPresent(callback),
  copyFileOut: callback,
  snapshot: ifPresent(callback),
  leave: ifPresent(callback),
  close: callback,
};

const HANDLES: Readonly<Record<ProviderType, Readonly<Record<string, Check>>>> = {
  none: ANY_HANDLE,
  "bind-mount": { ...ANY_HANDLE, copyFileIn: callback },
  isolated: { ...ANY_HANDLE, copyIn: callback },
};

/** Says why the value that `create()` resolved with cannot be used as a sandbox handle. */
export const handleProblem = (handle: unknown, type: ProviderType): string | undefined => {
  if (typeof handle !== "object" || handle === null) {
    return `create() resolved with ${kindOf(handle)}; it must resolve with a sandbox handle`;
  }
  const problems = Object.entries(HANDLES[type]).flatMap(([name, check]) => {
    const problem = problemOf(check, Reflect.get(handle, name));
    return problem === undefined ? [] : [`${name} ${problem}`];
  });
  return problems.length === 0
    ? undefined
    : `create() resolved with an incomplete sandbox handle: ${problems.join("; ")}`;
};

interface Answer {
  readonly expected: string;
  readonly isRight: Predicate;
}

/** The operations whose answers are read. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  exec: {
    expected: "{ stdout: string, stderr: string, exitCode: whole number }",
    isRight: objectWith({ stdout: isText, stderr: isText, exitCode: isCount }),
  },
  interactiveExec: {
    expected: "{ exitCode: whole number }",
    isRight: objectWith({ exitCode: isCount }),
  },
  snapshot: { expected: "a text", isRight: isText },
  leave: { expected: "true or false", isRight: isFlag },
};

/** Never the texts: they may be long, and hold secrets. */
const shapeOf = (answer: unknown): string =>
  isOptionsObject(answer)
    ? `{ ${Object.entries(answer)
        .map(([name, value]) => `${name}: ${kindOf(value)}`)
        .join(", ")} }`
    : kindOf(answer);

/** Says why the value that an operation of a sandbox handle resolved with cannot be used. */
export const answerProblem = (operation: string, value: unknown): string | undefined => {
  const answer = Object.hasOwn(ANSWERS, operation) ? ANSWERS[operation] : undefined;
  return answer === undefined || answer.isRight(value)
    ? undefined
    : `${operation}() resolved with ${shapeOf(value)}; it must resolve with ${answer.expected}`;
};
