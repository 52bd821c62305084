import { SandboxError } from "../errors.ts";
import {
  callEngine,
  type EngineClient,
  engineClients,
  unavailability,
} from "../sandboxes/containers/engine.ts";
import { type Finding, failed, ok } from "./finding.ts";

/** A daemon that is well answers within a fraction of it. */
const TIMEOUT_MS = 5000;

const ask = async (client: EngineClient, format: string): Promise<string> => {
  const asked = await callEngine(client, ["info", "--format", format], { timeoutMs: TIMEOUT_MS });
  // Podman prints its answer in spite of what it warns about; Docker prints half of one when there is no daemon.
  if (asked.exitCode === 0) return asked.stdout.trim();
  throw (
    unavailability(client, "", asked.stderr) ??
    new SandboxError(client.name, "it cannot be asked what it is like", asked.stderr)
  );
};

export const checkDocker = async (): Promise<Finding> => {
  const answer = await ask(engineClients.docker, "{{.ServerVersion}} {{json .SecurityOptions}}");
  const [version = ""] = answer.split(" ");
  return ok("docker", `${version}${answer.includes("name=rootless") ? ", rootless" : ""}`);
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
    throw new SandboxError("podman", "its answer about itself cannot be read", answer);
  }
};

export const checkPodman = async (): Promise<Finding> => {
  const { host, version } = await askPodman();
  if (!host?.security?.rootless) return ok("podman", version?.Version ?? "");
  // One entry is the user alone: an image's files could belong to nobody else.
  if ((host.idMappings?.uidmap ?? []).length < 2) {
    return failed(
      "podman",
      "this user has no ranges of ids in /etc/subuid and /etc/subgid, which containers need",
      'sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "$USER" && podman system migrate',
    );
  }
  return ok("podman", `${version?.Version}, rootless`);
};
