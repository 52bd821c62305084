const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** Whether an id is safe in a file name and in a glob. The id may come from a sandbox. */
export const isSessionId = (id: string): boolean => SESSION_ID.test(id);
