import { type OpenDirectory, withOpenDirectory } from "../openDirectory.ts";

/** Paths with any bytes are kept as `latin1`. */
export const asText = (path: string): string => Buffer.from(path, "latin1").toString("utf8");
export const fromText = (path: string): string => Buffer.from(path, "utf8").toString("latin1");

/** Does something with the entry at a relative path below the checkout, through directories that are held. */
export const atEntry = <A>(
  checkoutPath: string,
  path: string,
  use: (directory: OpenDirectory, name: string) => A,
): A => {
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  const name = steps.pop() ?? "";
  return withOpenDirectory(fromText(checkoutPath), steps, (directory) => use(directory, name));
};

const ABSENT: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** Whether there is nothing at a path, or the way to it leads out of the checkout. */
export const isAbsent = (error: unknown): boolean => ABSENT.has((error as NodeJS.ErrnoException).code);
