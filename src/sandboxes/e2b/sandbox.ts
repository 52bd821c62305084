import type { Sandbox, SandboxOpts } from "e2b";
import { SandboxUnavailableError } from "../../errors.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions, SnapshotOptions } from "../contract.ts";
import { DeadlineWarning } from "../exec/deadlineWarning.ts";
import type { Diagnosis, LaunchOptions } from "../exec/sandboxAccess.ts";
import { relayed } from "../relay/relay.ts";
import { makeSandbox } from "../services/makeSandbox.ts";
import { sandboxTags } from "../services/sandboxTags.ts";
import { serviceHandle } from "../services/serviceHandle.ts";
import { readState } from "../services/snapshotState.ts";
import { callE2b, e2bTransience, requestOfE2b } from "./callE2b.ts";
import {
  discreet,
  E2B,
  type E2bPatience,
  type E2bSdk,
  e2bError,
  endE2bSandbox,
  findE2bSandboxes,
  isNotFound,
  loadE2b,
  secrets,
} from "./client.ts";
import { ENDED, e2bLease } from "./lease.ts";
import type { E2bSettings } from "./options.ts";
import { keepE2bSnapshot } from "./snapshot.ts";
import { e2bTransport } from "./transport.ts";

const DIAGNOSIS_TIMEOUT_MS = 10_000;

const LIVE_LONGER =
  "Give e2b() a longer lifetimeMs; if your plan does not allow more, upgrade it, or do less in one run";

/** The tags by which a sandbox is found again. */
export const e2bMetadata = (runId: string, sandboxName: string): Record<string, string> => ({
  "sanddune.run": runId,
  "sanddune.name": sandboxName,
});

const networkOf = ({ network }: E2bSettings): Pick<SandboxOpts, "allowInternetAccess" | "network"> => {
  if (network === undefined) return {};
  if (network === "none") return { allowInternetAccess: false };
  const allowOut = [...(network.domains ?? []), ...(network.cidrs ?? [])];
  return { network: { allowOut, denyOut: ["0.0.0.0/0"] } };
};

/** Ends sandboxes whose creation E2B did not answer. One that cannot be ended now ends at its deadline. */
const endUnknown = async (
  sdk: E2bSdk,
  metadata: Record<string, string>,
  patience: E2bPatience,
): Promise<void> => {
  for (const sandboxId of await findE2bSandboxes(sdk, metadata, patience)) {
    await endE2bSandbox(sdk, sandboxId, patience).catch(() => {});
  }
};

const startSandbox = async (
  sdk: E2bSdk,
  settings: E2bSettings,
  { runId, sandboxName, snapshot, signal }: SandboxCreateOptions,
): Promise<Sandbox> => {
  const template = snapshot === undefined ? settings.template : readState(E2B, snapshot).id;
  const { run, owner, expires } = sandboxTags(runId, settings.lifetimeMs);
  const metadata = e2bMetadata(run, sandboxName);
  const { requestTimeoutMs: timeoutMs } = settings;
  const options = {
    metadata: { ...metadata, "sanddune.owner": owner, "sanddune.expires": expires },
    timeoutMs: settings.leaseMs,
    lifecycle: { onTimeout: "kill" },
    ...networkOf(settings),
  } as const;
  try {
    return await makeSandbox({
      ask: (cut) => requestOfE2b((call) => sdk.Sandbox.create(template, { ...options, ...call }), cut),
      end: ({ sandboxId }) => endE2bSandbox(sdk, sandboxId, { timeoutMs }),
      endUnknown: (given) => endUnknown(sdk, metadata, { timeoutMs, signal: given }),
      limits: settings,
      signal,
      transienceOf: e2bTransience,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (isNotFound(error) && snapshot === undefined) {
      throw new SandboxUnavailableError(
        E2B,
        `there is no template ${settings.template} (${discreet((error as Error).message)})`,
        "Build it with npx @e2b/cli template create, or use another one",
      );
    }
    throw e2bError("a sandbox could not be created", error);
  }
};

const diagnose = async (sdk: E2bSdk, sandboxId: string): Promise<Diagnosis> => {
  const details = `Sandbox ${sandboxId}`;
  try {
    const { state, endAt } = await callE2b((call) => sdk.Sandbox.getInfo(sandboxId, call), {
      timeoutMs: DIAGNOSIS_TIMEOUT_MS,
    });
    if (state !== "running") return { problem: `E2B has ${state} it`, details };
    return {
      problem: "it does not answer, although E2B says that it is running",
      details: `${details}, until ${endAt.toISOString()}`,
    };
  } catch (error) {
    return isNotFound(error)
      ? { problem: ENDED, details }
      : { problem: "E2B does not answer", details: `${details}\n${discreet(String(error))}` };
  }
};

/** Makes a sandbox at E2B. Nothing is left behind when that fails or is aborted. */
export const createE2bSandbox = async (
  settings: E2bSettings,
  options: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  options.signal?.throwIfAborted();
  const sdk = await loadE2b();
  const { leaseMs, lifetimeMs } = settings;
  const madeAtMs = Date.now();
  const atMs = madeAtMs + lifetimeMs;
  const sandbox = await startSandbox(sdk, settings, options);
  const startedByMs = Date.now();
  const { sandboxId } = sandbox;
  const { requestTimeoutMs: timeoutMs } = settings;
  const transport = e2bTransport(sdk, sandbox, { ownersDirectory: "/", timeoutMs });
  const deadlineWarning = new DeadlineWarning({
    provider: E2B,
    atMs,
    lifetimeMs,
    leaseMs,
    hint: LIVE_LONGER,
  });
  const sandboxOfE2b = {
    provider: E2B,
    launch: (argv: readonly string[], { sudo }: LaunchOptions) => relayed(transport, argv, { sudo }),
    diagnose: () => diagnose(sdk, sandboxId),
    heartbeat: e2bLease(sandbox, { leaseMs, madeAtMs, startedByMs, atMs, deadlineWarning }),
    keep: (taken: SnapshotOptions) => keepE2bSnapshot(sdk, sandboxId, taken, timeoutMs),
    close: () => endE2bSandbox(sdk, sandboxId, { timeoutMs }),
    deadlineWarning,
    secrets: secrets(),
  };
  return serviceHandle(sandboxOfE2b, options);
};
