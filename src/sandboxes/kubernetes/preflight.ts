import { SandboxUnavailableError } from "../../errors.ts";
import { callKubectl, complaint, KUBERNETES, type KubernetesPlace, kubectlLine } from "./client.ts";

/** The oldest that the tests know. */
const OLDEST = { major: 1, minor: 20 } as const;

interface Version {
  readonly major?: string;
  readonly minor?: string;
  readonly gitVersion?: string;
}

const isTooOld = ({ major = "", minor = "" }: Version): boolean => {
  const [majorNumber, minorNumber] = [Number.parseInt(major, 10), Number.parseInt(minor, 10)];
  return majorNumber < OLDEST.major || (majorNumber === OLDEST.major && minorNumber < OLDEST.minor);
};

const requireVersion = (what: string, version: Version | undefined): void => {
  if (version === undefined || !isTooOld(version)) return;
  throw new SandboxUnavailableError(
    KUBERNETES,
    `${what} ${version.gitVersion} is too old`,
    `Update to ${OLDEST.major}.${OLDEST.minor} or later.`,
  );
};

/** Asks client and server for their versions, which shows that there are both. */
const checkVersions = async (place: KubernetesPlace): Promise<void> => {
  const asked = await callKubectl(place, ["version", "--output", "json"]);
  if (asked.exitCode !== 0)
    throw complaint(place, "the cluster cannot be asked for its version", asked.stderr);
  const { clientVersion, serverVersion } = JSON.parse(asked.stdout) as Record<string, Version | undefined>;
  requireVersion("the program kubectl", clientVersion);
  requireVersion("the cluster's Kubernetes", serverVersion);
};

/** A user who may not read namespaces gets the error when the first pod is made. */
const checkNamespace = async (place: KubernetesPlace): Promise<void> => {
  if (place.namespace === undefined) return;
  const read = await callKubectl(place, ["get", `namespace/${place.namespace}`, "--output", "name"]);
  if (read.exitCode === 0 || /\(Forbidden\)/.test(read.stderr)) return;
  throw complaint(place, `the namespace ${place.namespace} cannot be looked up`, read.stderr);
};

const NEEDED = [
  { verb: "create", resource: "pods" },
  { verb: "get", resource: "pods" },
  { verb: "list", resource: "pods" },
  { verb: "delete", resource: "pods" },
  { verb: "create", resource: "pods", subresource: "exec" },
] as const;

/** The question of `kubectl auth can-i`, for all that is needed, by one client. */
const checkPermissions = async (place: KubernetesPlace): Promise<void> => {
  const reviews = NEEDED.map((attributes) => ({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { ...attributes, namespace: place.namespace } },
  }));
  const attributes = ".spec.resourceAttributes";
  const format = `jsonpath={.status.allowed} {${attributes}.verb} {${attributes}.resource}/{${attributes}.subresource}{"\\n"}`;
  const asked = await callKubectl(
    place,
    ["create", "--filename", "-", "--validate=false", "--output", format],
    { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items: reviews }) },
  );
  if (asked.exitCode !== 0)
    throw complaint(place, "the cluster cannot be asked for permissions", asked.stderr);
  const missing = asked.stdout
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("true "))
    .map((line) => line.replace(/^\S* /, "").replace(/\/$/, ""));
  if (missing.length === 0) return;
  const [verb = "create", resource = "pods"] = missing[0]?.split(" ") ?? [];
  throw new SandboxUnavailableError(
    KUBERNETES,
    `you may not ${missing.join(", ")} in the namespace ${place.namespace ?? "of this pod"}`,
    `Have a role with these permissions bound to you. Check with: ${kubectlLine(place, "auth", "can-i", verb, resource)}`,
  );
};

/** Checks, before anything is created, that pods can be made and used. */
export const kubernetesPreflight = async (place: KubernetesPlace): Promise<void> => {
  await checkVersions(place);
  await Promise.all([checkNamespace(place), checkPermissions(place)]);
};
