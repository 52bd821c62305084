import { hasCode } from "../../tools/files/hasCode.ts";

/** Whether a process with that id exists. The id may have been reused. */
export const processExists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
};
