import type { NextStep } from "../../init/nextSteps.ts";
import { print, printJson } from "../shared/output.ts";

/** The result of init. */
export interface InitReport {
  /** The config directory. */
  readonly directory: string;
  readonly files: readonly string[];
  /** `undefined` for a sandbox without images. */
  readonly imageName: string | undefined;
  /** Whether the image is built. */
  readonly built: boolean;
  /** Why the build failed. */
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
      `Created ${directory}/ with:`,
      ...files.map((name) => `  ${name}`),
      ...(built ? [`Built ${imageName}`] : []),
      "",
      "Next steps:",
      ...next.flatMap(numbered),
    ].join("\n"),
  );
};
