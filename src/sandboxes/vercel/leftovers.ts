import type { Sandbox } from "@vercel/sandbox";
import { SandboxError } from "../../errors.ts";
import type { LeftSandbox, SandboxLeftovers } from "../leftovers.ts";
import { type CloudPlace, lookInAccount, readCloudPlace } from "../services/account.ts";
import { REQUEST_TIMEOUT_MS } from "../services/serviceLimits.ts";
import { deleteVercelSandbox, findVercelSandbox, loadVercel, vercelAccount } from "./client.ts";
import { VERCEL, vercelError } from "./error.ts";
import { isSandboxOfRun } from "./sandbox.ts";

const elsewhere = ({ account: { team, project } }: CloudPlace): SandboxError =>
  new SandboxError(
    VERCEL,
    `it was made in another Vercel project; set VERCEL_TEAM_ID=${team} and VERCEL_PROJECT_ID=${project}, and a VERCEL_TOKEN or VERCEL_OIDC_TOKEN for it`,
  );

const findSandbox = async (sandbox: LeftSandbox, signal?: AbortSignal): Promise<Sandbox | undefined> => {
  const { runId, sandboxName } = sandbox;
  const client = await loadVercel();
  const look = async () => {
    const found = await findVercelSandbox(client, sandboxName, {
      timeoutMs: REQUEST_TIMEOUT_MS,
      signal,
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw vercelError(`the sandbox ${sandboxName} could not be looked up`, error);
    });
    return found !== undefined && isSandboxOfRun(found, runId) ? found : undefined;
  };
  const place = readCloudPlace(VERCEL, sandbox, ["team", "project"]);
  return lookInAccount(place, vercelAccount(client), look, elsewhere);
};

/** Sandboxes of dead runs at Vercel. They end at their deadline, but their names stay. */
export const vercelLeftovers: SandboxLeftovers = {
  holdsWork: async (sandbox) => (await findSandbox(sandbox))?.status === "running",
  find: async (sandbox, signal) => {
    const found = await findSandbox(sandbox, signal);
    return found === undefined ? undefined : `${VERCEL} sandbox ${found.name}`;
  },
  remove: async (sandbox) => {
    const found = await findSandbox(sandbox);
    if (found !== undefined) await deleteVercelSandbox(found, { timeoutMs: REQUEST_TIMEOUT_MS });
  },
};
