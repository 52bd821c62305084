/** The reason why a test failed, in characters. */
export const MAX_MESSAGE_LENGTH = 4000;

/** The path of a test. */
export const MAX_PATH_LENGTH = 512;

/** In an environment, and in an answer. */
export const MAX_TESTS = 10_000;

/** The body of a request, and of an answer. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The answer of an environment's own server, before it is shortened. */
export const MAX_FOREIGN_BYTES = 16 * 1024 * 1024;

/** A test that takes longer has failed, unless it declares another limit. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Longer, because a suite has many tests. */
export const DEFAULT_SUITE_TIMEOUT_MS = 10 * 60_000;

/** How many processes run tests at a time, unless the environment says otherwise. */
export const DEFAULT_CONCURRENCY = 4;
