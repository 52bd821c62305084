import type { AgentProvider } from "../agents/contract.ts";
import { agentRegistry, findAgent } from "../agents/registry.ts";
import { InvalidOptionsError } from "../errors.ts";
import { checkImageName } from "../images/imageNames.ts";
import { type BacklogManager, type BacklogManagerName, backlogManagers } from "../init/backlogManagers.ts";
import type { ProjectChoices } from "../project/choices.ts";
import { isModulePath } from "../project/modulePath.ts";
import { type Finding, failed } from "./finding.ts";
import { examinedProviders } from "./sandboxes.ts";

/** The chosen settings that a run would accept. */
export interface ExaminedChoices {
  readonly agent: AgentProvider | undefined;
  readonly sandbox: string | undefined;
  readonly imageName: string | undefined;
  readonly backlog: BacklogManager | undefined;
  /** The settings that a run would refuse. */
  readonly findings: readonly Finding[];
}

/** Any program can be the agent. */
const COMMAND = "command";

const NAME_ANOTHER = "Name another in .sanddune/config.json";

const noSuch = (title: string, name: string, known: readonly string[]): Finding =>
  failed(title, `there is no ${JSON.stringify(name)}`, `${NAME_ANOTHER}: ${known.join(", ")}`);

const examineAgent = ({ agent, model }: ProjectChoices): Pick<ExaminedChoices, "agent" | "findings"> => {
  if (agent === undefined || agent.value === COMMAND) return { agent: undefined, findings: [] };
  const known = findAgent(agent.value);
  if (known === undefined) {
    const names = [...Object.keys(agentRegistry), COMMAND];
    return { agent: undefined, findings: [noSuch("agent", agent.value, names)] };
  }
  try {
    return { agent: known.create(model?.value ?? known.exampleModel), findings: [] };
  } catch (error) {
    // A wrong flag is an error of the command line, not a finding.
    if (!(error instanceof InvalidOptionsError) || model?.isFlag) throw error;
    return { agent: undefined, findings: [failed("model", error.problem, NAME_ANOTHER)] };
  }
};

/** Checks whether a run would accept the chosen settings. */
export const examineChoices = (choices: ProjectChoices): ExaminedChoices => {
  const { agent, findings } = examineAgent(choices);
  const sandbox = choices.sandbox?.value;
  const names = examinedProviders.map(({ name }) => name);
  const isKnownSandbox = sandbox === undefined || names.includes(sandbox) || isModulePath(sandbox);
  const backlog = choices.backlog?.value;
  const isKnownBacklog = backlog === undefined || Object.hasOwn(backlogManagers, backlog);
  const imageName = choices.imageName?.value;
  const imageProblem = imageName === undefined ? undefined : checkImageName(imageName);
  return {
    agent,
    sandbox: isKnownSandbox ? sandbox : undefined,
    imageName: imageProblem === undefined ? imageName : undefined,
    backlog: isKnownBacklog ? backlogManagers[backlog as BacklogManagerName] : undefined,
    findings: [
      ...findings,
      ...(isKnownSandbox ? [] : [noSuch("sandbox", sandbox, names)]),
      ...(isKnownBacklog ? [] : [noSuch("backlog", backlog, Object.keys(backlogManagers))]),
      ...(imageProblem === undefined ? [] : [failed("image", imageProblem, NAME_ANOTHER)]),
    ],
  };
};
