import { EnvironmentStartError } from "../../../errors.ts";
import { readSchema } from "../../definition/readSchema.ts";
import type { EnvironmentOutline } from "../../worker/messages.ts";
import { LOAD_TIMEOUT_MS } from "./testSession.ts";
import type { TestWorker, WorkerLaunch } from "./testWorker.ts";

/** The outline of the definition. A worker loads the definition, because loading runs its code. */
export const outlineOf = async (
  worker: TestWorker,
  { directory, worktree, scratch }: WorkerLaunch,
  signal: AbortSignal | undefined,
): Promise<EnvironmentOutline> => {
  const place = { directory, worktree, scratch };
  const outcome = await worker.ask({ type: "load", place }, LOAD_TIMEOUT_MS, signal);
  if (!outcome.isDone) throw new EnvironmentStartError(outcome.message);
  const outline = outcome.value as EnvironmentOutline;
  const schema = readSchema(outline.schema);
  if (schema === undefined) throw new EnvironmentStartError("its definition does not describe its tests");
  return { ...outline, schema };
};
