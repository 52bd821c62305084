import { isRunning, ownIdentity, type ProcessIdentity } from "../../process/kill/processIdentity.ts";
import { parseObject } from "../../tools/json/parseJson.ts";
import type { UnlistedSandbox } from "../leftovers.ts";
import { type ContainerEngine, callEngine } from "./engine.ts";
import { snapshotOf } from "./snapshotImages.ts";
import { removeContainer } from "./startContainer.ts";

const ASK_TIMEOUT_MS = 10_000;

/** Names the process that made a container: the journal does so too, but may be gone. */
export const processLabel = (): { readonly process: string } => ({ process: JSON.stringify(ownIdentity()) });

interface InspectedContainer {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

const FORMAT = '{"name":{{json .Name}},"labels":{{json .Config.Labels}}}';

const ask = async (engine: ContainerEngine, args: readonly string[]): Promise<string[]> => {
  const { stdout } = await callEngine(engine, args, { timeoutMs: ASK_TIMEOUT_MS });
  return stdout.split("\n").filter((line) => line !== "");
};

/** A container that is removed in between is not printed. */
const inspectAll = async (engine: ContainerEngine): Promise<InspectedContainer[]> => {
  const ids = await ask(engine, ["ps", "--all", "--quiet", "--filter", "label=sanddune.repository"]);
  if (ids.length === 0) return [];
  return (await ask(engine, ["inspect", "--type", "container", "--format", FORMAT, ...ids])).map((line) => {
    const { name, labels } = JSON.parse(line) as InspectedContainer;
    return { name: name.replace(/^\//, ""), labels };
  });
};

/** `undefined` if the label is missing or not sanddune's. */
const makerOf = ({ labels }: InspectedContainer): ProcessIdentity | undefined => {
  const maker = parseObject(labels["sanddune.process"] ?? "") as ProcessIdentity | undefined;
  return typeof maker?.pid === "number" ? maker : undefined;
};

/** Labels may also come from the image, which an agent may have built. The name comes from the command that made the container. */
const hasNameOf = (runId: string, name: string): boolean =>
  runId !== "" && (name === `sanddune-${runId}` || name.startsWith(`sanddune-${runId}-`));

/** Finds containers of a repository's runs by labels and names, unless their process is known to be alive. */
export const findUnlistedContainers = async (
  engine: ContainerEngine,
  checkouts: ReadonlySet<string>,
  isListed: (runId: string) => boolean,
): Promise<UnlistedSandbox[]> =>
  (await inspectAll(engine)).flatMap((container) => {
    const { name, labels } = container;
    const runId = labels["sanddune.run"] ?? "";
    if (!checkouts.has(labels["sanddune.repository"] ?? "")) return [];
    if (!hasNameOf(runId, name) || isListed(runId)) return [];
    const maker = makerOf(container);
    if (maker !== undefined && isRunning(maker)) return [];
    return [
      {
        runId,
        description: `${engine.name} container ${name}`,
        ...(maker === undefined && {
          doubt: `its label does not name the process that made it. If no run uses it: ${engine.name} rm --force ${name}`,
        }),
        remove: async () => removeContainer(engine, name, await snapshotOf(engine, name)),
      },
    ];
  });
