import type { NetworkPolicy, Sandbox } from "@vercel/sandbox";
import { SandboxLostError, SandboxUnavailableError } from "../../errors.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions, SnapshotOptions } from "../contract.ts";
import { DeadlineWarning } from "../exec/deadlineWarning.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";
import type { Diagnosis, LaunchOptions } from "../exec/sandboxAccess.ts";
import { type RelayTransport, relayed } from "../relay/relay.ts";
import { makeSandbox } from "../services/makeSandbox.ts";
import { sandboxTags } from "../services/sandboxTags.ts";
import { serviceHandle } from "../services/serviceHandle.ts";
import { readState } from "../services/snapshotState.ts";
import { deleteVercelSandbox, findVercelSandbox, loadVercel, type VercelClient } from "./client.ts";
import { discreet, secrets, statusOf, VERCEL, vercelError, vercelTransience } from "./error.ts";
import { findVercelState, vercelLease } from "./lease.ts";
import type { VercelSettings } from "./options.ts";
import { keepVercelSnapshot } from "./snapshot.ts";
import { vercelTransport } from "./transport.ts";

const DIAGNOSIS_TIMEOUT_MS = 10_000;

const LIVE_LONGER =
  "Give vercel() a longer lifetimeMs; if your plan does not allow more, upgrade it, or do less in one run";

const RUN_TAG = "sanddune-run";

/** Keeps only characters that every tag accepts. */
const tagValue = (value: string): string => value.replaceAll(/[^A-Za-z0-9._-]/g, "-");

/** Whether a sandbox belongs to this run: any sandbox may have that name. */
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
  { runId, sandboxName: name, snapshot, signal }: SandboxCreateOptions,
): Promise<Sandbox> => {
  const { run, owner, expires } = sandboxTags(runId, settings.lifetimeMs);
  const { imageName: image, vcpus, leaseMs, requestTimeoutMs: timeoutMs } = settings;
  const create = (cut: AbortSignal) =>
    client.sdk.Sandbox.create({
      ...client.credentials,
      name,
      timeout: leaseMs,
      // Otherwise its files are kept after its end, and cost money.
      persistent: false,
      tags: {
        [RUN_TAG]: tagValue(run),
        "sanddune-owner": tagValue(owner),
        "sanddune-expires": tagValue(expires),
      },
      ...(snapshot !== undefined
        ? { source: { type: "snapshot" as const, snapshotId: readState(VERCEL, snapshot).id } }
        : image !== undefined && { image }),
      ...(vcpus !== undefined && { resources: { vcpus } }),
      ...policyOf(settings),
      signal: cut,
    });
  const findOwn = async (given: AbortSignal) => {
    const found = await findVercelSandbox(client, name, { timeoutMs, signal: given });
    return found !== undefined && isSandboxOfRun(found, runId) ? found : undefined;
  };
  // The SDK repeats a failed request, although the first one may have made the sandbox.
  const createOnce = (cut: AbortSignal) =>
    create(cut).catch(async (error: unknown) => {
      const made = statusOf(error) === 409 ? await findOwn(cut).catch(() => undefined) : undefined;
      if (made === undefined) throw error;
      return made;
    });
  try {
    return await makeSandbox({
      ask: createOnce,
      end: (late) => deleteVercelSandbox(late, { timeoutMs }),
      endUnknown: async (given) => {
        const made = await findOwn(given);
        if (made !== undefined) await deleteVercelSandbox(made, { timeoutMs, signal: given });
      },
      limits: settings,
      signal,
      transienceOf: vercelTransience,
    });
  } catch (error) {
    signal?.throwIfAborted();
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
    const { end } = await findVercelState(client, name, sessionId, { timeoutMs: DIAGNOSIS_TIMEOUT_MS });
    return { problem: end ?? "it does not answer, although Vercel says that it is running", details };
  } catch (error) {
    return { problem: "Vercel does not answer", details: `${details}\n${discreet(String(error))}` };
  }
};

/** The session in which commands run, and what belongs to it. A snapshot ends it, and another one takes its place. */
interface Live {
  readonly sandbox: Sandbox;
  readonly transport: RelayTransport;
  readonly lease: Heartbeat;
}

/** Makes a sandbox at Vercel. Nothing is left behind when that fails or is aborted. */
export const createVercelSandbox = async (
  settings: VercelSettings,
  options: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  options.signal?.throwIfAborted();
  const client = await loadVercel();
  const { leaseMs, lifetimeMs } = settings;
  const madeAtMs = Date.now();
  const atMs = madeAtMs + lifetimeMs;
  const sandbox = await startSandbox(client, settings, options);
  const { requestTimeoutMs: timeoutMs } = settings;
  const deadlineWarning = new DeadlineWarning({
    provider: VERCEL,
    atMs,
    lifetimeMs,
    leaseMs,
    hint: LIVE_LONGER,
  });
  const liveOf = (current: Sandbox, fromMs: number): Live => ({
    sandbox: current,
    transport: vercelTransport(client, current, timeoutMs),
    lease: vercelLease(client, current, {
      ...{ leaseMs, atMs, deadlineWarning },
      ...{ madeAtMs: fromMs, startedByMs: Date.now() },
    }),
  });
  let live = liveOf(sandbox, madeAtMs);
  let keeping: Promise<unknown> = Promise.resolve();
  let keepsSnapshots = false;
  const keep = (taken: SnapshotOptions): Promise<string> => {
    const fromMs = Date.now();
    const kept = keepVercelSnapshot(client, live.sandbox, taken, (continued) => {
      live = liveOf(continued, fromMs);
    });
    keeping = kept.catch((error: unknown) => {
      // If it did not continue, the snapshot has the only copy of its files.
      keepsSnapshots ||= error instanceof SandboxLostError;
    });
    return kept;
  };
  const sandboxOfVercel = {
    provider: VERCEL,
    inside: sandbox.currentSession().cwd,
    launch: (argv: readonly string[], { sudo }: LaunchOptions) => relayed(live.transport, argv, { sudo }),
    diagnose: () => diagnose(client, sandbox.name, live.sandbox.currentSession().sessionId),
    heartbeat: {
      ...live.lease,
      // While a snapshot is taken there is no session, which must not be mistaken for a lost sandbox.
      beat: async (signal: AbortSignal) => {
        const before = keeping;
        await before;
        const beat = live.lease.beat(signal);
        await beat.catch((error: unknown) => {
          if (before === keeping) throw error;
        });
      },
    },
    keep,
    close: () => deleteVercelSandbox(live.sandbox, { timeoutMs, keepsSnapshots }),
    deadlineWarning,
    secrets: secrets(),
  };
  return serviceHandle(sandboxOfVercel, options);
};
