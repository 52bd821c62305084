import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { type ConfigEntry, parseConfigList } from "./configFile.ts";
import { gitText } from "./git.ts";

/** The user's git configuration as it applies to the repository, without what sanddune adds to every command. */
export const readHostConfig = (cwd: string): Effect.Effect<ConfigEntry[], SandduneError> =>
  gitText(["config", "--list", "-z"], { cwd }).pipe(Effect.map(parseConfigList));
