import { readFileSync } from "node:fs";
import { join } from "node:path";

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));

/** What the build puts into the sources, for all configurations of vitest. */
export const define = { SANDDUNE_VERSION: JSON.stringify(version) };
