import type { ReportBuilder, TestOutcome } from "../report.ts";

/** A test that may contain tests. */
export interface TestNode extends TestOutcome {
  readonly name: string;
  /** Neither passed nor failed, with everything in it. */
  readonly isSkipped: boolean;
  readonly children: readonly TestNode[];
}

const addBelow = (report: ReportBuilder, node: TestNode, around: readonly string[]): boolean => {
  if (node.isSkipped) {
    report.skip();
    return false;
  }
  const names = [...around, node.name];
  const failures = node.children.filter((child) => addBelow(report, child, names));
  // Children report their own failures. If none of them failed, the failure is its own.
  const isOwn = node.children.length === 0 || (!node.passed && failures.length === 0);
  if (isOwn) report.add(names, node);
  return !node.passed || failures.length > 0;
};

/** Adds the innermost tests to a report, and outer ones that failed for a reason of their own. */
export const addTree = (
  report: ReportBuilder,
  roots: readonly TestNode[],
  around: readonly string[] = [],
): void => {
  for (const root of roots) addBelow(report, root, around);
};
