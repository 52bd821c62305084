import { showDuration } from "../../display/duration.ts";
import type { TestResult } from "../../environment/contract.ts";

const indented = (text: string): string[] => text.split("\n").map((line) => `    ${line}`);

export const linesOf = ({ path, passed, durationMs, message }: TestResult): string[] => [
  `${passed ? "✓" : "✗"} ${path}  ${showDuration(durationMs)}`,
  ...(message === undefined ? [] : indented(message)),
];
