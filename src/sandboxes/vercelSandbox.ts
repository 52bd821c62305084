import type { NetworkPolicy, Sandbox } from "@vercel/sandbox";
import { SandboxError, SandboxUnavailableError } from "../errors.ts";
import { isolatedCommandSandbox } from "./commandSandbox.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions } from "./contract.ts";
import { endInTime, LastCall } from "./endInTime.ts";
import { killInSandbox } from "./killInSandbox.ts";
import { makeWorktree } from "./makeWorktree.ts";
import { relayed } from "./relay.ts";
import type { Diagnosis, SandboxAccess } from "./sandboxAccess.ts";
import { sandboxTags } from "./sandboxTags.ts";
import {
  deleteVercelSandbox,
  discreet,
  findVercelSandbox,
  loadVercel,
  requestSignal,
  statusOf,
  VERCEL,
  type VercelClient,
  vercelError,
} from "./vercelClient.ts";
import { vercelEngine } from "./vercelEngine.ts";
import { findVercelState, vercelLease } from "./vercelLease.ts";
import type { VercelSettings } from "./vercelOptions.ts";

const CREATE_TIMEOUT_MS = 120_000;

const LIVE_LONGER =
  "Give vercel() a longer lifetimeMs; if it is your plan that allows no more, take a larger one, or have less done in one run";

const RUN_TAG = "sanddune-run";

/** What a tag can hold without doubt. */
const tagValue = (value: string): string => value.replaceAll(/[^A-Za-z0-9._-]/g, "-");

/** Whether a sandbox of that name is this run's: anybody can give a sandbox that name. */
export const isSandboxOfRun = ({ tags }: Sandbox, runId: string): boolean =>
  tags?.[RUN_TAG] === tagValue(runId);

const policyOf = ({ network }: VercelSettings): { readonly networkPolicy?: NetworkPolicy } => {
  if (network === undefined) return {};
  if (network === "none") return { networkPolicy: "deny-all" };
  const { domains = [], cidrs = [] } = network;
  return { networkPolicy: { allow: [...domains], subnets: { allow: [...cidrs] } } };
};

const startSandbox = async (
  client: VercelClient,
  settings: VercelSettings,
  { runId, sandboxName: name }: SandboxCreateOptions,
): Promise<Sandbox> => {
  const { run, owner, expires } = sandboxTags(runId, settings.lifetimeMs);
  const { imageName: image, vcpus, leaseMs } = settings;
  try {
    // Not given the signal: a request that is aborted half-way may leave a sandbox that nobody knows.
    return await client.sdk.Sandbox.create({
      ...client.credentials,
      name,
      timeout: leaseMs,
      // Otherwise what it leaves behind is kept, and paid for.
      persistent: false,
      tags: {
        [RUN_TAG]: tagValue(run),
        "sanddune-owner": tagValue(owner),
        "sanddune-expires": tagValue(expires),
      },
      ...(image !== undefined && { image }),
      ...(vcpus !== undefined && { resources: { vcpus } }),
      ...policyOf(settings),
      signal: requestSignal(undefined, CREATE_TIMEOUT_MS),
    });
  } catch (error) {
    // The SDK repeats a request that has failed, although the first one may have made the sandbox.
    const made = await findVercelSandbox(client, name).catch(() => undefined);
    const isOurs = made !== undefined && isSandboxOfRun(made, runId);
    if (isOurs && statusOf(error) === 409) return made;
    if (isOurs) await deleteVercelSandbox(made).catch(() => {});
    if (statusOf(error) === 404 && image !== undefined) {
      throw new SandboxUnavailableError(
        VERCEL,
        `there is no image ${image} (${discreet((error as Error).message)})`,
        "Push it to Vercel's registry, or use another one",
      );
    }
    throw vercelError("a sandbox could not be created", error);
  }
};

const diagnose = async (client: VercelClient, name: string, sessionId: string): Promise<Diagnosis> => {
  const details = `Sandbox ${name}, session ${sessionId}`;
  try {
    const { end } = await findVercelState(client, name, sessionId);
    return { problem: end ?? "it does not answer, although Vercel says that it is running", details };
  } catch (error) {
    return { problem: "Vercel does not answer", details: `${details}\n${discreet(String(error))}` };
  }
};

/** Makes a sandbox with Vercel. Nothing is left behind when that fails or is aborted. */
export const createVercelSandbox = async (
  settings: VercelSettings,
  options: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  const { signal } = options;
  signal?.throwIfAborted();
  const client = await loadVercel();
  const { leaseMs, lifetimeMs } = settings;
  const madeAtMs = Date.now();
  const atMs = madeAtMs + lifetimeMs;
  const sandbox = await startSandbox(client, settings, options);
  const startedByMs = Date.now();
  const lastCall = new LastCall({ provider: VERCEL, atMs, lifetimeMs, leaseMs, hint: LIVE_LONGER });
  try {
    signal?.throwIfAborted();
    const session = sandbox.currentSession();
    const engine = vercelEngine(client, sandbox);
    const launch: SandboxAccess["launch"] = (argv, { sudo }) => relayed(engine, argv, { sudo });
    const made = await makeWorktree(launch, { inside: session.cwd, signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new SandboxError(VERCEL, "commands cannot be run in it", String(error), { cause: error });
    });
    const handle = isolatedCommandSandbox({
      provider: VERCEL,
      name: options.sandboxName,
      worktreePath: made.worktreePath,
      fallbackHome: made.home,
      isRemote: true,
      hasTerminal: false,
      launch,
      // Not all processes of a virtual machine are the commands' own.
      kill: killInSandbox(launch, { ownsProcessNamespace: false }),
      diagnose: () => diagnose(client, sandbox.name, session.sessionId),
      heartbeat: vercelLease(client, sandbox, { leaseMs, madeAtMs, startedByMs, atMs, lastCall }),
      close: () => deleteVercelSandbox(sandbox),
    });
    return endInTime(handle, lastCall);
  } catch (error) {
    lastCall.cancel();
    await deleteVercelSandbox(sandbox).catch(() => {});
    throw error;
  }
};
