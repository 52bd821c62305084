import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const PACKAGE = "@cursor/sdk";

const packageFrom = (file: string): string | undefined =>
  (createRequire(file).resolve.paths(PACKAGE) ?? [])
    .map((modules) => join(modules, PACKAGE))
    .find((directory) => existsSync(join(directory, "package.json")));

/** Finds Cursor's SDK, an optional peer, among the packages of the suite or of sanddune. */
export const findCursorSdk = (root: string): string | undefined =>
  packageFrom(join(root, "package.json")) ?? packageFrom(import.meta.filename);
