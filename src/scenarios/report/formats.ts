export const REPORT_FORMATS = ["html", "junit", "markdown"] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];
