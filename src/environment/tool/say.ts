import { EnvironmentStartError, TestRequestError } from "../../errors.ts";
import { writeSafely } from "../../process/writeSafely.ts";
import { messageOf } from "../../tools/messageOf.ts";
import type { EnvironmentSchema, TestProgress, TestResults } from "../contract.ts";
import { sealLine } from "./sealedLines.ts";

/** What the program for environments prints, a line of JSON each. */
export type ToolLine =
  | { readonly type: "progress"; readonly message: string }
  | { readonly type: "progress"; readonly progress: TestProgress }
  /** Nothing new, but it is still at work. */
  | { readonly type: "alive" }
  /** It has its key, and waits for the work that is to be tested. */
  | { readonly type: "waiting" }
  /** The files of the work are there, and may be made ready. */
  | { readonly type: "unpacked" }
  /** The set-up script has run. */
  | { readonly type: "prepared" }
  | { readonly type: "ready"; readonly url: string }
  | { readonly type: "schema"; readonly schema: EnvironmentSchema }
  | { readonly type: "result"; readonly result: TestResults }
  | {
      readonly type: "failed";
      readonly message: string;
      /** The end of what was printed meanwhile. */
      readonly log: string;
      /** Of a request that cannot be done: what a test server would answer. */
      readonly status?: number;
      readonly paths?: readonly string[];
    };

let key: string | undefined;

/** From now on lines are sealed: what is tested may be able to print where this process does. */
export const sealLinesWith = (given: string): void => {
  key = given;
};

/** Lines that another part has words for. */
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
