import {
  ProcessStartError,
  ProcessTimeoutError,
  SandboxError,
  SandboxUnavailableError,
} from "../../errors.ts";
import { type ProcessResult, runProcess } from "../../process/runProcess.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { type Limit, limitTo } from "../../tools/wait/limitTo.ts";

export const KUBERNETES = "kubernetes";

/** A cluster and a namespace. `kubectl` finds what is left out by itself, e.g. in a pod of that cluster. */
export interface KubernetesPlace {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

/** One argument each, so that no value can be read as another flag. */
export const placeArguments = ({ kubeconfig, context, namespace }: KubernetesPlace): string[] => [
  ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
  ...(context === undefined ? [] : [`--context=${context}`]),
  ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
];

/** A command for the user to try. */
export const kubectlLine = (place: KubernetesPlace, ...args: string[]): string =>
  ["kubectl", ...placeArguments(place).map(shellQuote), ...args].join(" ");

const CLIENT_TIMEOUT_MS = 30_000;
/** A list of many pods is long. */
const CAPTURE_BYTES = 64 * 1024 * 1024;

/** A client costs tens of milliseconds of CPU time and tens of megabytes: fifty runs must not start fifty at once. */
const limit: Limit = limitTo(8);

interface CallOptions {
  readonly stdin?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const INSTALL_HINT =
  "Install kubectl: sudo apt-get install kubernetes-client (Debian), brew install kubernetes-cli (macOS), or see kubernetes.io/docs/tasks/tools";

/** Runs `kubectl`. Rejects with a `SandboxUnavailableError` if it cannot be started, or does not finish. */
export const callKubectl = (
  place: KubernetesPlace,
  args: readonly string[],
  { stdin = "", timeoutMs = CLIENT_TIMEOUT_MS, signal }: CallOptions = {},
): Promise<ProcessResult> =>
  limit(
    () =>
      runProcess({
        program: "kubectl",
        args: [...placeArguments(place), ...args],
        stdin,
        timeoutMs,
        captureBytes: CAPTURE_BYTES,
        ...(signal && { signal }),
      }),
    signal,
  ).catch((error: unknown) => {
    if (error instanceof ProcessStartError) {
      throw new SandboxUnavailableError(
        KUBERNETES,
        `the program kubectl could not be started (${error.errorCode})`,
        INSTALL_HINT,
      );
    }
    if (error instanceof ProcessTimeoutError) {
      throw new SandboxUnavailableError(
        KUBERNETES,
        `the cluster did not answer within ${error.timeoutMs} ms`,
        `Check with: ${kubectlLine(place, "version")}`,
      );
    }
    throw error;
  });

const firstMatch = (pattern: RegExp, text: string): string | undefined => pattern.exec(text)?.[1];

/** Reads the client's error, if it is about the cluster and not about one pod. */
export const unavailability = (
  place: KubernetesPlace,
  stderr: string,
): SandboxUnavailableError | undefined => {
  const unavailable = (problem: string, hint: string) =>
    new SandboxUnavailableError(KUBERNETES, problem, hint);
  if (/context .*does not exist|cannot locate context|context was not found/i.test(stderr)) {
    return unavailable(
      `there is no context ${place.context ?? "that could be used"}`,
      "See which there are: kubectl config get-contexts",
    );
  }
  const namespace = firstMatch(/namespaces? "([^"]+)" not found/i, stderr);
  if (namespace !== undefined) {
    return unavailable(
      `there is no namespace ${namespace}`,
      `Make it: ${kubectlLine({ ...place, namespace: undefined }, "create", "namespace", namespace)}`,
    );
  }
  if (/unauthorized|must be logged in|provide credentials|getting credentials/i.test(stderr)) {
    return unavailable(
      `the cluster refuses your credentials (${stderr.trim()})`,
      `Log in again, then check with: ${kubectlLine(place, "get", "pods")}`,
    );
  }
  if (
    /connection to the server|unable to connect|couldn't get current server|connection refused|no such host|no route to host|i\/o timeout|TLS handshake/i.test(
      stderr,
    )
  ) {
    return unavailable(
      `the cluster does not answer (${stderr.trim().split("\n").at(-1)})`,
      `Start it, or name another one with \`context\`. Check with: ${kubectlLine(place, "version")}`,
    );
  }
  return undefined;
};

/** The same, or else a `SandboxError`. */
export const complaint = (
  place: KubernetesPlace,
  problem: string,
  stderr: string,
): SandboxUnavailableError | SandboxError =>
  unavailability(place, stderr) ?? new SandboxError(KUBERNETES, problem, stderr);

interface KubeconfigView {
  readonly contexts?: readonly {
    readonly name?: string;
    readonly context?: { readonly namespace?: string };
  }[];
}

/**
 * Resolves the context and the namespace, so that they stay the same when the user switches to others. In a pod without a
 * kubeconfig there is no context, and `kubectl` finds the rest.
 */
export const findPlace = async (asked: KubernetesPlace): Promise<KubernetesPlace> => {
  const { kubeconfig, context, namespace } = asked;
  const viewed = await callKubectl({ kubeconfig, context }, [
    ...["config", "view", "--minify", "--output", "json"],
  ]);
  if (viewed.exitCode !== 0) {
    if (context === undefined && kubeconfig === undefined) return { namespace };
    throw complaint(asked, "its kubeconfig cannot be read", viewed.stderr);
  }
  const [found] = (JSON.parse(viewed.stdout) as KubeconfigView).contexts ?? [];
  return {
    kubeconfig,
    context: context ?? found?.name,
    namespace: namespace ?? found?.context?.namespace ?? "default",
  };
};
