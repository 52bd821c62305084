import { InvalidOptionsError } from "../../errors.ts";
import { anyText, type Check, members, nonNegative, text, textByName } from "../../options/checks/checks.ts";
import { kindOf } from "../../options/checks/valueKind.ts";

/** One thing that a scripted agent does. */
export type ScriptedStep =
  /** Says something. */
  | { readonly text: string }
  /** Runs a shell command as a tool call; a failing command does not end the script. */
  | { readonly shell: string }
  /** Writes files, relative to the worktree, and commits everything. */
  | { readonly commit: string; readonly files?: Readonly<Record<string, string>> }
  | { readonly sleepMs: number }
  /** Ends at once with this exit code. */
  | { readonly exit: number };

type KeyOf<Step> = Step extends unknown ? keyof Step : never;

const exitCode: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255
    ? undefined
    : "must be an exit code, a whole number from 0 to 255";

const STEP: Record<KeyOf<ScriptedStep>, Check> = {
  text: anyText,
  shell: text,
  commit: text,
  files: textByName,
  sleepMs: nonNegative,
  exit: exitCode,
};

const KINDS = Object.keys(STEP).filter((name) => name !== "files");

/** A step does one thing: anything else in it would be ignored silently. */
const checkStep = (path: string, step: unknown): void => {
  members(path, step, STEP);
  const { files, ...others } = step as Readonly<Record<string, unknown>>;
  const kinds = Object.keys(others).filter((name) => others[name] !== undefined);
  if (kinds.length === 1 && (files === undefined || kinds[0] === "commit")) return;
  throw new InvalidOptionsError(
    path,
    `expected exactly one of: ${KINDS.join(", ")}; \`files\` belongs to \`commit\``,
  );
};

/** The steps of a scripted agent, checked. Throws an `InvalidOptionsError`. */
export const checkedSteps = (steps: readonly ScriptedStep[]): readonly ScriptedStep[] => {
  if (!Array.isArray(steps)) {
    throw new InvalidOptionsError(
      "steps",
      `must be a list of steps, or a function that returns one; got ${kindOf(steps)}`,
    );
  }
  for (const [index, step] of steps.entries()) checkStep(`steps[${index}]`, step);
  return steps;
};
