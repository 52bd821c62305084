import type { NextStep } from "../../init/nextSteps.ts";
import { print, printJson } from "../shared/output.ts";

/** What init tells in the end. */
export interface InitReport {
  /** The config directory. */
  readonly directory: string;
  readonly files: readonly string[];
  /** `undefined` for a sandbox without images. */
  readonly imageName: string | undefined;
  /** Whether the image is built. */
  readonly built: boolean;
  /** Why it is not built although it was to be. */
  readonly problem: string | undefined;
  readonly next: readonly NextStep[];
}

const numbered = ({ what, command }: NextStep, index: number): string[] => [
  `  ${index + 1}. ${what}`,
  ...(command === undefined ? [] : [`       ${command}`]),
];

export const reportScaffold = async (
  report: InitReport,
  { json }: { readonly json?: boolean },
): Promise<void> => {
  if (json) return printJson(report);
  const { directory, files, imageName, built, next } = report;
  await print(
    [
      `Made ${directory}/ with:`,
      ...files.map((name) => `  ${name}`),
      ...(built ? [`Built ${imageName}`] : []),
      "",
      "What is left to do:",
      ...next.flatMap(numbered),
    ].join("\n"),
  );
};
