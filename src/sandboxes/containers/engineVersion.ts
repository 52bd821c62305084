import { SandboxError, SandboxUnavailableError } from "../../errors.ts";
import { callEngine, type EngineClient, engineClients, unavailability } from "./engine.ts";

/** A daemon that works answers within a fraction of it. */
const TIMEOUT_MS = 5000;

const ask = async (client: EngineClient, format: string): Promise<string> => {
  const asked = await callEngine(client, ["info", "--format", format], { timeoutMs: TIMEOUT_MS });
  // Podman prints its answer beside its warnings; Docker prints half an answer when there is no daemon.
  if (asked.exitCode === 0) return asked.stdout.trim();
  throw (
    unavailability(client, "", asked.stderr) ??
    new SandboxError(client.name, "asking for its version failed", asked.stderr)
  );
};

/** Docker's version, with whether it is rootless. Rejects as a run would. */
export const dockerVersion = async (): Promise<string> => {
  const answer = await ask(engineClients.docker, "{{.ServerVersion}} {{json .SecurityOptions}}");
  const [version = ""] = answer.split(" ");
  return `${version}${answer.includes("name=rootless") ? ", rootless" : ""}`;
};

interface PodmanInfo {
  readonly host?: {
    readonly security?: { readonly rootless?: boolean };
    readonly idMappings?: { readonly uidmap?: readonly unknown[] | null };
  };
  readonly version?: { readonly Version?: string };
}

const askPodman = async (): Promise<PodmanInfo> => {
  const answer = await ask(engineClients.podman, "json");
  try {
    return JSON.parse(answer) as PodmanInfo;
  } catch {
    throw new SandboxError("podman", "its answer is not JSON", answer);
  }
};

/** The same of Podman; `idRangesFix` gives a user the ids that a rootless one needs. */
export const podmanVersion = async (idRangesFix: string): Promise<string> => {
  const { host, version } = await askPodman();
  if (!host?.security?.rootless) return version?.Version ?? "";
  // One entry is the user alone: an image's files could have no other owner.
  if ((host.idMappings?.uidmap ?? []).length < 2) {
    throw new SandboxUnavailableError(
      "podman",
      "this user has no ranges of ids in /etc/subuid and /etc/subgid, which containers need",
      idRangesFix,
    );
  }
  return `${version?.Version}, rootless`;
};
