import { randomBytes } from "node:crypto";

/** Sorts by time, is fit for branch, file and container names, and does not repeat. */
export const createRunId = (): string => {
  const [date = "", time = ""] = new Date().toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${randomBytes(3).toString("hex")}`;
};
