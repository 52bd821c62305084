import { EnvironmentStartError, TestRequestError } from "../../errors.ts";
import { writeSafely } from "../../process/writeSafely.ts";
import type { EnvironmentSchema, TestProgress, TestResults } from "../contract.ts";

/** What the program for environments prints, a line of JSON each. */
export type ToolLine =
  | { readonly type: "progress"; readonly message: string }
  | { readonly type: "progress"; readonly progress: TestProgress }
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

/** Lines that another part has words for. */
export const sayLine = (line: object): void => writeSafely(process.stdout, `${JSON.stringify(line)}\n`);

export const say: (line: ToolLine) => void = sayLine;

export const saySentence = (message: string): void => say({ type: "progress", message });

export const sayFailed = (reason: unknown): void => {
  if (reason instanceof EnvironmentStartError)
    say({ type: "failed", message: reason.problem, log: reason.log });
  else if (reason instanceof TestRequestError)
    say({ type: "failed", message: reason.message, log: "", status: reason.status, paths: reason.paths });
  else say({ type: "failed", message: reason instanceof Error ? reason.message : String(reason), log: "" });
};
