import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { gitText } from "./git.ts";

export interface HostRef {
  readonly name: string;
  readonly sha: string;
}

/** The user's refs (branches, tags, remote branches) as they are now; symbolic ones and sanddune's own are left out. */
export const listHostRefs = (cwd: string): Effect.Effect<HostRef[], SandduneError> =>
  gitText(
    [
      "for-each-ref",
      "--format=%(objectname) %(refname) %(symref)",
      "refs/heads",
      "refs/tags",
      "refs/remotes",
    ],
    { cwd },
  ).pipe(
    Effect.map((output) =>
      output
        .split("\n")
        .map((line) => line.split(" "))
        .filter(([, name, symbolicTarget]) => name !== undefined && symbolicTarget === "")
        .map(([sha = "", name = ""]) => ({ name, sha })),
    ),
  );
