import { type OpenDirectory, withOpenDirectory } from "../../process/openDirectory.ts";
import { fromText } from "../output.ts";

/** Calls `use` with the open directory and the name of an entry below the checkout. */
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

/** Whether a path does not exist, or leads through a link. */
export const isAbsent = (error: unknown): boolean => ABSENT.has((error as NodeJS.ErrnoException).code);
