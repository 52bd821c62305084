import { beforeEach } from "vitest";
import { requiresRuntimes, whyMissing } from "./runtimes.ts";

/** Attacks and faults are played in bubblewrap unless they say otherwise: without it there is nothing to attack. */
const ATTACKS = /\/test\/(security|faults)\//;

let reason: string | undefined | "unknown" = "unknown";

beforeEach((context) => {
  if (!ATTACKS.test(context.task.file.filepath)) return;
  if (reason === "unknown") reason = whyMissing("bubblewrap");
  if (reason === undefined) return;
  if (requiresRuntimes) throw new Error(reason);
  context.skip(reason);
});
