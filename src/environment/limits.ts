/** Why a test failed is told in so many characters. */
export const MAX_MESSAGE_LENGTH = 4000;

/** The path of a test. */
export const MAX_PATH_LENGTH = 512;

/** Of an environment, and of an answer. */
export const MAX_TESTS = 10_000;

/** What a client may send, and what it is sent. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** What a server that is not ours may answer, before it is bounded. */
export const MAX_FOREIGN_BYTES = 16 * 1024 * 1024;

/** A test that takes longer has failed, unless it says that it may. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** A suite is many tests. */
export const DEFAULT_SUITE_TIMEOUT_MS = 10 * 60_000;

/** Children that work at a time, unless the environment says otherwise. */
export const DEFAULT_CONCURRENCY = 4;
