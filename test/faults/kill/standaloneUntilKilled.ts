/**
 * Makes a standalone sandbox, says what it is called, and then ends as it was told: `node <this> <sandbox> <image> <end>`. It is
 * bundled first, so that it can be killed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createStandaloneSandbox } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";

const [provider = "", image = "", end = ""] = process.argv.slice(2);

const PROVIDERS = {
  "test-isolated": () => testIsolated(),
  bubblewrap: () => bubblewrap(),
  docker: () => docker({ imageName: image }),
};

const sandbox = await createStandaloneSandbox(PROVIDERS[provider as keyof typeof PROVIDERS]());
await sandbox.writeFile("file", "content");
console.log(sandbox.name);
if (end === "exit") process.exit(0);
if (end === "throw") throw new Error("nobody catches this");
if (end === "hang") await delay(600_000);
