import { MAX_REPORT_BYTES, type SuiteReport } from "./report.ts";
import { ReportFileProblem, readReport } from "./reportFile.ts";
import { GoTestReader, type KnownGoTests } from "./reports/goTest.ts";

/** The end of a suite's output. */
export interface Printed {
  readonly stdout: string;
  readonly isTruncated: boolean;
  readonly stderr: string;
}

/** Where a report comes from. */
export interface ReportSource {
  /** How much of the standard output is kept for `read`. */
  readonly captureBytes: number;
  /** Gets every line of standard output, and returns its text for people. */
  readonly onLine?: (line: string) => string;
  /** Gets every line that the command writes to its file descriptor 3. */
  readonly onChannelLine?: (line: string) => void;
  /** The report, or a sentence that says why there is none. */
  read(printed: Printed): Promise<SuiteReport | string>;
}

type Parse = (text: string) => SuiteReport;

/** Reads the report from a file. `roots` are the directories that may contain it. */
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
      ? `It printed more than ${MAX_REPORT_BYTES} bytes, the limit of a report: let it write a file, and name the file in \`report\`.`
      : parse(stdout),
});

/** Reads the events that a runner writes to file descriptor 3. */
export const channelSource = (report: { read(line: string): void; finish(): SuiteReport }): ReportSource => {
  let hasSpoken = false;
  return {
    captureBytes: 1024,
    onChannelLine: (line) => {
      hasSpoken = true;
      report.read(line);
    },
    read: async () => {
      const results = report.finish();
      return hasSpoken || results.tests.length > 0 ? results : "It wrote no report.";
    },
  };
};

export const goSource = (known: KnownGoTests): ReportSource => {
  const reader = new GoTestReader(known);
  return {
    captureBytes: 64 * 1024,
    onLine: (line) => reader.read(line),
    read: async ({ stderr }) => reader.finish(stderr),
  };
};
