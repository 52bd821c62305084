import { EnvironmentStartError, TestRequestError } from "../../errors.ts";
import { writeSafely } from "../../process/writeSafely.ts";
import { messageOf } from "../../tools/messageOf.ts";
import type { EnvironmentSchema, TestProgress, TestResults } from "../contract.ts";
import { sealLine } from "./sealedLines.ts";

/** A line of JSON that the test tool prints. */
export type ToolLine =
  | { readonly type: "progress"; readonly message: string }
  | { readonly type: "progress"; readonly progress: TestProgress }
  /** It still works. */
  | { readonly type: "alive" }
  /** It has its key, and waits for the work. */
  | { readonly type: "waiting" }
  /** The files of the work are unpacked, and hooks may run on them. */
  | { readonly type: "unpacked" }
  /** The set-up script has run. */
  | { readonly type: "prepared" }
  | { readonly type: "ready"; readonly url: string }
  | { readonly type: "schema"; readonly schema: EnvironmentSchema }
  | { readonly type: "result"; readonly result: TestResults }
  | {
      readonly type: "failed";
      readonly message: string;
      /** The end of the output. */
      readonly log: string;
      /** For a request that is refused: the status that a test server would answer with. */
      readonly status?: number;
      readonly paths?: readonly string[];
    };

let key: string | undefined;

/** Seals all later lines: the tested code may be able to write to the same output. */
export const sealLinesWith = (given: string): void => {
  key = given;
};

/** Prints a line of any type. */
export const sayLine = (line: object): void => {
  const text = JSON.stringify(line);
  writeSafely(process.stdout, `${key === undefined ? text : sealLine(key, text)}\n`);
};

export const say: (line: ToolLine) => void = sayLine;

export const saySentence = (message: string): void => say({ type: "progress", message });

export const sayFailed = (reason: unknown): void => {
  if (reason instanceof EnvironmentStartError)
    say({ type: "failed", message: reason.problem, log: reason.log });
  else if (reason instanceof TestRequestError)
    say({ type: "failed", message: reason.message, log: "", status: reason.status, paths: reason.paths });
  else say({ type: "failed", message: messageOf(reason), log: "" });
};
