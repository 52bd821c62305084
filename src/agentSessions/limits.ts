/** The size limits of a session. A long one has a few megabytes. */
export const MAX_FILE_BYTES = 128 * 1024 * 1024;
export const MAX_SESSION_BYTES = 2 * MAX_FILE_BYTES;
export const MAX_FILES = 1000;
/** Longer records are not parsed: in memory a record may take more than fifty times its size in the file. */
export const MAX_RECORD_LENGTH = 16 * 1024 * 1024;
/** Shorter ids cannot be distinguished from other text. */
export const MIN_COPIED_ID_LENGTH = 8;
/** How much of a failed command's output is kept. */
export const LAST_WORDS_BYTES = 4096;
