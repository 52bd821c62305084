import type { RunResult } from "../results.ts";
import { print, printJson } from "./output.ts";
import { summaryOf } from "./summary.ts";

/** Prints what `run()` resolved with. */
export const reportResult = (result: RunResult, options: { readonly json: boolean }): Promise<void> =>
  options.json ? printJson(result) : print(summaryOf(result).join("\n"));
