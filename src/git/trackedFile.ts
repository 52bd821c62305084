import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git } from "./git.ts";

/**
 * Whether git tracks a file of the checkout at `cwd`, by its path from there; or something in the place of one of its
 * directories. Case is ignored, because some file systems do.
 */
export const isTracked = (cwd: string, path: string): Effect.Effect<boolean, SandduneError> => {
  const [directory = path] = path.split("/");
  return git(["ls-files", "-z", "--", `:(icase)${directory}`], { cwd }).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0")
        .some((tracked) => tracked !== "" && `${path}/`.startsWith(`${tracked.toLowerCase()}/`)),
    ),
  );
};
