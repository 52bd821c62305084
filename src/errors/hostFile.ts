import { HostFileError } from "./host.ts";

/** Turns the failure of an operation on the file at `path` into the typed error. */
export const hostFileErrorAt =
  (path: string | undefined) =>
  (cause: unknown): HostFileError =>
    new HostFileError((cause as NodeJS.ErrnoException).code ?? "unknown", path, { cause });

/** The result of an operation on the file at `path`. */
export const atHostFile = <A>(path: string, operate: () => A): A => {
  try {
    return operate();
  } catch (cause) {
    throw hostFileErrorAt(path)(cause);
  }
};
