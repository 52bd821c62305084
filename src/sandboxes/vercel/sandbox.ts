import type { NetworkPolicy, Sandbox } from "@vercel/sandbox";
import { SandboxUnavailableError } from "../../errors.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions } from "../contract.ts";
import { DeadlineWarning } from "../exec/deadlineWarning.ts";
import type { Diagnosis, LaunchOptions } from "../exec/sandboxAccess.ts";
import { relayed } from "../relay/relay.ts";
import { makeSandbox } from "../services/makeSandbox.ts";
import { sandboxTags } from "../services/sandboxTags.ts";
import { serviceHandle } from "../services/serviceHandle.ts";
import { deleteVercelSandbox, findVercelSandbox, loadVercel, type VercelClient } from "./client.ts";
import { discreet, secrets, statusOf, VERCEL, vercelError, vercelTransience } from "./error.ts";
import { findVercelState, vercelLease } from "./lease.ts";
import type { VercelSettings } from "./options.ts";
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
  { runId, sandboxName: name, signal }: SandboxCreateOptions,
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
      ...(image !== undefined && { image }),
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
  const startedByMs = Date.now();
  const session = sandbox.currentSession();
  const { requestTimeoutMs: timeoutMs } = settings;
  const transport = vercelTransport(client, sandbox, timeoutMs);
  const deadlineWarning = new DeadlineWarning({
    provider: VERCEL,
    atMs,
    lifetimeMs,
    leaseMs,
    hint: LIVE_LONGER,
  });
  const sandboxOfVercel = {
    provider: VERCEL,
    inside: session.cwd,
    launch: (argv: readonly string[], { sudo }: LaunchOptions) => relayed(transport, argv, { sudo }),
    diagnose: () => diagnose(client, sandbox.name, session.sessionId),
    heartbeat: vercelLease(client, sandbox, { leaseMs, madeAtMs, startedByMs, atMs, deadlineWarning }),
    close: () => deleteVercelSandbox(sandbox, { timeoutMs }),
    deadlineWarning,
    secrets: secrets(),
  };
  return serviceHandle(sandboxOfVercel, options);
};
