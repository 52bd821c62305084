import { tell } from "../shared/output.ts";

export const cannotRead = (runDirectory: string): string => `This run cannot be read: ${runDirectory}`;

/** Says that a run is left out because its journal cannot be read: another user's, for instance. */
export const tellUnreadable = (runDirectory: string): void => void tell(cannotRead(runDirectory));
