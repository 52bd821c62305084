import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Repository } from "../repository.ts";

/** A directory with this prefix holds nothing to keep: something was being made or removed there. */
export const REMOVING = ".removing-";

/** A new path below `parent` for a directory that `sanddune clean` may remove. */
export const removalDraft = (parent: string): string =>
  join(parent, `${REMOVING}${randomBytes(6).toString("hex")}`);

/** The parent of drafts in the repository's git directory. */
export const gitRemovals = ({ commonDirectory }: Repository): string => join(commonDirectory, "sanddune");
