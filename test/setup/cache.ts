import { join } from "node:path";

/** What scripts install and start for the tests. */
export const CACHE = join(import.meta.dirname, "../../.cache");
/** Where `scripts/agents/install` puts the agents. */
export const AGENTS = join(CACHE, "agents");
