import { randomBytes } from "node:crypto";

const RUN_ID = /^\d{8}-\d{6}-[0-9a-f]{6}$/;

/** Whether a run can be called that. */
export const isRunId = (text: string): boolean => RUN_ID.test(text);

/** Sorts by time, is fit for branch, file and container names, and does not repeat. */
export const createRunId = (): string => {
  const [date = "", time = ""] = new Date().toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${randomBytes(3).toString("hex")}`;
};
