const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** Whether it can be part of a file name and of a pattern. What calls itself a session id may come from a sandbox. */
export const isSessionId = (id: string): boolean => SESSION_ID.test(id);
