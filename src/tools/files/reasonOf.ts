import { getSystemErrorMap } from "node:util";

/** Why something could not be done, in words. What the system says comes without the host's paths. */
export const reasonOf = (error: unknown): string => {
  const { errno, message } = error as NodeJS.ErrnoException;
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
};
