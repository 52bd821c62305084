import { showDuration } from "../../display/duration.ts";
import type { TestResult } from "../../environment/contract.ts";

const indented = (text: string): string[] => text.split("\n").map((line) => `    ${line}`);

/** The result of a test, in lines. */
export const linesOf = ({ path, passed, durationMs, message }: TestResult): string[] => [
  `${passed ? "✓" : "✗"} ${path}  ${showDuration(durationMs)}`,
  ...(message === undefined ? [] : indented(message)),
];
