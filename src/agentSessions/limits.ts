/** What a session may weigh. Those of a long day's work have a few megabytes. */
export const MAX_FILE_BYTES = 128 * 1024 * 1024;
export const MAX_SESSION_BYTES = 2 * MAX_FILE_BYTES;
export const MAX_FILES = 1000;
/** Longer records are not looked into: in memory one may take more than fifty times what it takes in a file. */
export const MAX_RECORD_LENGTH = 16 * 1024 * 1024;
/** Shorter ids cannot be told from other text. */
export const MIN_COPIED_ID_LENGTH = 8;
/** Of what a command in the sandbox prints about its failure. */
export const LAST_WORDS_BYTES = 4096;
