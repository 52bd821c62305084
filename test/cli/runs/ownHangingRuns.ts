import { onTestFinished } from "vitest";
import type { SandduneError } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { failureOf, play, shell } from "../../security/support.ts";
import { ps } from "./hangingRuns.ts";

export interface OwnHangingRun {
  readonly runId: string;
  /** What the run rejects with. */
  readonly ended: Promise<SandduneError>;
  isAgentAlive(): boolean;
  abort(): void;
}

/**
 * Starts a run of this process whose agent does something, then hangs; resolves once it does. It has no isolation, so
 * that every machine can do it.
 */
export const playHangingRun = async (
  cwd: string,
  { script = "", branch = "b", ...options }: { script?: string; branch?: string; name?: string } = {},
): Promise<OwnHangingRun> => {
  const { line, isThere } = hang();
  const controller = new AbortController();
  const ended = failureOf(
    play(cwd, [shell(script, line)], {
      ...options,
      sandbox: testIsolated(),
      branchStrategy: { type: "branch", branch },
      signal: controller.signal,
    }),
  );
  onTestFinished(async () => {
    controller.abort();
    await ended;
  });
  await Promise.race([waitFor(isThere), ended.then((error) => Promise.reject(error))]);
  const { runId = "" } =
    (await ps(cwd)).find((run) => run.branch === branch && run.state === "running") ?? {};
  return { runId, ended, isAgentAlive: isThere, abort: () => controller.abort() };
};
