import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import type { ChoiceFlags } from "../project/choices.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import { agentTitle } from "./agents.ts";
import { checkCredentials, checkEnvFile } from "./credentials.ts";
import { asNotes, type Finding, failed } from "./finding.ts";
import { checkGit, checkIdentity, checkNode } from "./host.ts";
import { checkRepository } from "./repository.ts";
import { examineCustom, examinedProviders, examineLocal, examineRemote, tryByHand } from "./sandboxes.ts";
import { findSituation, type Situation } from "./situation.ts";
import { checkUserNamespaces } from "./userNamespaces.ts";
import { within } from "./within.ts";

interface ExaminedSandbox {
  readonly name: string;
  readonly findings: readonly Finding[];
}

type HostCheck = (situation: Situation) => Promise<Finding | readonly Finding[] | undefined>;

/** By title. */
const BEFORE: Readonly<Record<string, HostCheck>> = {
  git: checkGit,
  "git identity": checkIdentity,
  "Node.js": checkNode,
  repository: checkRepository,
  "chosen settings": async ({ findings }) => findings,
  "user namespaces": checkUserNamespaces,
};
const AFTER: Readonly<Record<string, HostCheck>> = {
  credentials: checkCredentials,
  "env file": checkEnvFile,
};

const fixIt = (): string => `Fix what it says – then run again: ${sandduneCommand("doctor")}`;

const INSTALL_ANY =
  "sudo apt-get install bubblewrap (Debian, Ubuntu), sudo dnf install bubblewrap (Fedora), or install docker or podman";

/** The problem that all sandboxes share, if none was chosen. */
const missingEverywhere = (
  examined: readonly ExaminedSandbox[],
  { sandbox, agent }: Situation,
): Finding | undefined => {
  if (sandbox !== undefined) return undefined;
  if (!examined.some(({ findings }) => findings[0]?.state === "ok")) {
    return failed("sandboxes", "none of them works here", INSTALL_ANY);
  }
  const hasAgent = ({ name, findings }: ExaminedSandbox) =>
    agent === undefined ||
    findings.some(({ title, state }) => title === agentTitle(agent, name) && state === "ok");
  return examined.some(hasAgent)
    ? undefined
    : failed(agent?.name ?? "", "it works in none of the sandboxes", "See what they need above.");
};

/** The chosen sandbox has to work; where none was chosen, any one of them. */
const judge = (examined: readonly ExaminedSandbox[], situation: Situation): Finding[] => {
  const missing = missingEverywhere(examined, situation);
  return [
    ...examined.flatMap(({ name, findings }) => (name === situation.sandbox ? findings : asNotes(findings))),
    ...(missing === undefined ? [] : [missing]),
  ];
};

/** Checks everything that a run needs. The checks run concurrently, and change nothing. */
export const examine = async (
  flags: ChoiceFlags & { readonly cwd?: string },
  signal?: AbortSignal,
  own?: SandboxProvider,
): Promise<readonly Finding[]> => {
  const situation = await findSituation(flags);
  const onHost = (checks: Readonly<Record<string, HostCheck>>) =>
    Promise.all(
      Object.entries(checks).map(([title, check]) =>
        within(title, fixIt(), async () => [(await check(situation)) ?? []].flat()),
      ),
    );
  const [before, sandboxes, after] = await Promise.all([
    onHost(BEFORE),
    Promise.all([
      ...examinedProviders
        .filter(({ name, doctor }) => doctor.isLocal || name === situation.sandbox)
        .map(async (provider) => {
          const { name, doctor } = provider;
          const check = doctor.isLocal ? examineLocal : examineRemote;
          const findings = await within(name, tryByHand(provider), () => check(provider, situation, signal));
          return { name, findings };
        }),
      ...(own === undefined ? [] : [own]).map(async (provider) => ({
        name: situation.sandbox ?? "",
        findings: await within(provider.name, fixIt(), () => examineCustom(provider, situation, signal)),
      })),
    ]),
    onHost(AFTER),
  ]);
  signal?.throwIfAborted();
  return [...before.flat(), ...judge(sandboxes, situation), ...after.flat()];
};
