import { getSystemErrorMap } from "node:util";

/** The message of an error. A system error is described without the paths of the host. */
export const reasonOf = (error: unknown): string => {
  const { errno, message } = error as NodeJS.ErrnoException;
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
};
