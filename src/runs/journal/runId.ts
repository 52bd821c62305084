import { randomBytes } from "node:crypto";

const RUN_ID = /^\d{8}-\d{6}-[0-9a-f]{6}$/;

/** Whether a text has the form of a run id. */
export const isRunId = (text: string): boolean => RUN_ID.test(text);

/** A unique id that sorts by time and is valid in names of branches, files and containers. */
export const createRunId = (): string => {
  const [date = "", time = ""] = new Date().toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${randomBytes(3).toString("hex")}`;
};
