import { GoTestReader } from "./goTest.ts";
import { MAX_REPORT_BYTES, type SuiteReport } from "./report.ts";
import { ReportFileProblem, readReport } from "./reportFile.ts";

/** What a suite has printed, the end of it at least. */
export interface Printed {
  readonly stdout: string;
  readonly isTruncated: boolean;
  readonly stderr: string;
}

/** Where a report comes from. */
export interface ReportSource {
  /** How much of the standard output is kept for `read`. */
  readonly captureBytes: number;
  /** Gets every line of the standard output; answers with what people should see of it. */
  readonly onLine?: (line: string) => string;
  /** The report, or a sentence that says why there is none. */
  read(printed: Printed): Promise<SuiteReport | string>;
}

type Parse = (text: string) => SuiteReport;

/** `roots` are the directories that the file may be in. */
export const fileSource = (path: string, roots: readonly string[], parse: Parse): ReportSource => ({
  captureBytes: 1024,
  read: async () => {
    try {
      return parse(await readReport(path, roots));
    } catch (error) {
      if (error instanceof ReportFileProblem) return error.message;
      return `Its report cannot be read: ${(error as Error).message}.`;
    }
  },
});

export const outputSource = (parse: Parse): ReportSource => ({
  captureBytes: MAX_REPORT_BYTES,
  read: async ({ stdout, isTruncated }) =>
    isTruncated
      ? `It printed more than the ${MAX_REPORT_BYTES} bytes that are read of a report: let it write a file, and name that in \`report\`.`
      : parse(stdout),
});

export const goSource = (): ReportSource => {
  const reader = new GoTestReader();
  return {
    captureBytes: 64 * 1024,
    onLine: (line) => reader.read(line),
    read: async ({ stderr }) => reader.finish(stderr),
  };
};
