import { tell } from "../shared/output.ts";

export const cannotRead = (runDirectory: string): string => `Cannot read this run: ${runDirectory}`;

/** Reports a run that is skipped because its journal cannot be read, for example because it belongs to another user. */
export const tellUnreadable = (runDirectory: string): void => void tell(cannotRead(runDirectory));
