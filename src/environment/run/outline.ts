import { EnvironmentStartError } from "../../errors.ts";
import { readSchema } from "../readSchema.ts";
import type { EnvironmentOutline } from "../worker/messages.ts";
import { LOAD_TIMEOUT_MS } from "./testSession.ts";
import { TestWorker, type WorkerLaunch } from "./testWorker.ts";

/** What the definition says. It is asked for in a process of its own, since loading it runs it. */
export const outlineOf = async (
  launch: WorkerLaunch,
  signal: AbortSignal | undefined,
): Promise<EnvironmentOutline> => {
  const worker = new TestWorker(launch);
  try {
    const { directory, worktree, scratch } = launch;
    const place = { directory, worktree, scratch };
    const outcome = await worker.ask({ type: "load", place }, LOAD_TIMEOUT_MS, signal);
    if (!outcome.isDone) throw new EnvironmentStartError(outcome.message);
    const outline = outcome.value as EnvironmentOutline;
    const schema = readSchema(outline.schema);
    if (schema === undefined) throw new EnvironmentStartError("its definition told nothing of its tests");
    return { ...outline, schema };
  } finally {
    await worker.end();
  }
};
