import { mkdir } from "node:fs/promises";
import { dirname, extname } from "node:path";
import { ReportFileError } from "../../errors/commandErrors.ts";
import { checkDirectory, headOf } from "../../tools/files/outputPlace.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { replaceFile } from "../../tools/files/wholeFile.ts";
import { REPORT_FORMATS, type ReportFormat } from "./formats.ts";
import { HTML_MARK, htmlReport } from "./html/html.ts";
import { JUNIT_MARK, junitReport } from "./junit.ts";
import { MARKDOWN_MARK, markdownReport } from "./markdown.ts";
import type { ReportModel } from "./model.ts";

interface Format {
  readonly extension: string;
  readonly mark: string;
  readonly render: (model: ReportModel) => string;
}

const FORMATS: Readonly<Record<ReportFormat, Format>> = {
  html: { extension: ".html", mark: HTML_MARK, render: htmlReport },
  junit: { extension: ".xml", mark: JUNIT_MARK, render: junitReport },
  markdown: { extension: ".md", mark: MARKDOWN_MARK, render: markdownReport },
};

export const renderReport = (model: ReportModel, format: ReportFormat): string =>
  FORMATS[format].render(model);

/** The format of a file by its extension; `undefined` if the extension is unknown. */
export const formatOf = (file: string): ReportFormat | undefined =>
  REPORT_FORMATS.find((format) => FORMATS[format].extension === extname(file).toLowerCase());

const formatFor = (file: string, format = formatOf(file)): ReportFormat => {
  if (format !== undefined) return format;
  throw new ReportFileError(file, "its name does not end in .html, .xml or .md");
};

/** Turns any error into a `ReportFileError` with the file's path. */
const withReportErrors = async (file: string, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    throw new ReportFileError(file, reasonOf(error), { cause: error });
  }
};

/**
 * Checks, without changing anything, that a report can be written: its format is known, an existing file is empty or
 * an earlier report, and its directory exists or can be created. Throws a `ReportFileError`.
 */
export const checkReportFile = async (file: string, format?: ReportFormat): Promise<void> => {
  formatFor(file, format);
  await withReportErrors(file, async () => {
    const head = (await headOf(file)) ?? "";
    if (head !== "" && !Object.values(FORMATS).some(({ mark }) => head.includes(mark))) {
      throw new Error("the file exists, and is not a report of sanddune");
    }
    await checkDirectory(dirname(file));
  });
};

/** Writes a report atomically, in the format of the file's extension. Replaces only reports. */
export const writeReport = async (model: ReportModel, file: string, format?: ReportFormat): Promise<void> => {
  await checkReportFile(file, format);
  await withReportErrors(file, async () => {
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, renderReport(model, formatFor(file, format)));
  });
};
