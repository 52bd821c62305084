import { type AgentName, agentRegistry } from "../../agents/registry.ts";
import { checkImageName } from "../../images/imageNames.ts";
import { type AgentAnswer, COMMAND_AGENT, type InitAnswers } from "../../init/answers.ts";
import { type BacklogManagerName, backlogManagers } from "../../init/backlogManagers.ts";
import { type ImageBaseName, imageBases } from "../../init/imageBases.ts";
import { type SandboxChoiceName, sandboxChoices } from "../../init/sandboxChoices.ts";
import { type TemplateName, templates } from "../../init/templates.ts";
import { UsageError } from "../shared/usageError.ts";
import type { Ask, InitFlags, Question } from "./flags.ts";

const titles = (entries: Readonly<Record<string, { readonly title: string }>>): Record<string, string> =>
  Object.fromEntries(Object.entries(entries).map(([name, { title }]) => [name, title]));

export const AGENT = {
  flag: "--agent",
  text: "Which agent does the work?",
  choices: { ...titles(agentRegistry), [COMMAND_AGENT]: "your own program" },
  byDefault: "claude-code",
} satisfies Question;

export const SANDBOX = {
  flag: "--sandbox",
  text: "Which sandbox does it work in?",
  choices: titles(sandboxChoices),
  byDefault: "docker",
} satisfies Question;

export const TEMPLATE = {
  flag: "--template",
  text: "Which template do you want to start from?",
  choices: titles(templates),
  byDefault: "blank",
} satisfies Question;

export const BACKLOG = {
  flag: "--backlog",
  text: "Where do its tasks come from?",
  choices: titles(backlogManagers),
  byDefault: "none",
} satisfies Question;

/** Not asked, because most people need the default, and the Dockerfile can be changed. */
export const BASE = {
  flag: "--base",
  text: "Which base image do you want?",
  choices: titles(imageBases),
  byDefault: "node",
} satisfies Question;

const AGENT_COMMAND: Question = {
  flag: "--agent-command",
  text: "Which command starts the agent? It reads the prompt from standard input.",
  example: "sh ./agent.sh",
};

const modelQuestion = (agent: AgentName): Question => ({
  flag: "--model",
  text: `Which model does ${agentRegistry[agent].title} use?`,
  byDefault: agentRegistry[agent].exampleModel,
});

const checked = <Name extends string>({ flag, choices = {} }: Question, answer: string): Name => {
  if (Object.hasOwn(choices, answer)) return answer as Name;
  throw new UsageError(
    `${flag}: there is no ${JSON.stringify(answer)}. Expected one of: ${Object.keys(choices).join(", ")}`,
  );
};

const backlogAnswer = async (
  { backlog }: InitFlags,
  template: TemplateName,
  ask: Ask,
): Promise<BacklogManagerName> => {
  if (templates[template].hasTasks) return checked(BACKLOG, backlog ?? (await ask(BACKLOG)));
  const name = checked<BacklogManagerName>(BACKLOG, backlog ?? BACKLOG.byDefault);
  if (name === BACKLOG.byDefault) return name;
  throw new UsageError(
    `--backlog: the template ${template} does not use a backlog; choose another --template, or remove the flag`,
  );
};

const agentAnswer = async (flags: InitFlags, ask: Ask): Promise<AgentAnswer> => {
  const { model, agentCommand } = flags;
  const given = flags.agent ?? (agentCommand === undefined ? undefined : COMMAND_AGENT);
  const agent = checked<AgentName | typeof COMMAND_AGENT>(AGENT, given ?? (await ask(AGENT)));
  if (agent === COMMAND_AGENT) {
    if (model !== undefined) throw new UsageError("--model: the agent command has no model");
    const line = agentCommand ?? (await ask(AGENT_COMMAND));
    if (line.trim() === "") throw new UsageError("--agent-command: the command line is empty");
    return { agent, agentCommand: line };
  }
  if (agentCommand !== undefined) throw new UsageError("--agent-command needs --agent command");
  const chosen = model ?? (await ask(modelQuestion(agent)));
  // The agent provider checks the name of the model.
  agentRegistry[agent].create(chosen);
  return { agent, model: chosen };
};

const imageNameAnswer = (
  { imageName }: InitFlags,
  sandbox: SandboxChoiceName,
  defaultImageName: string,
): string | undefined => {
  if (sandboxChoices[sandbox].imageFile !== undefined) {
    const problem = imageName === undefined ? undefined : checkImageName(imageName);
    if (problem !== undefined) throw new UsageError(`--image-name: ${problem}`);
    return imageName ?? defaultImageName;
  }
  if (imageName !== undefined) throw new UsageError(`--image-name: ${sandbox} has no images`);
  return undefined;
};

const baseAnswer = ({ base }: InitFlags, sandbox: SandboxChoiceName): { readonly base?: ImageBaseName } => {
  if (base === undefined) return {};
  if (sandboxChoices[sandbox].imageFile === undefined) {
    throw new UsageError(`--base: ${sandbox} has no images`);
  }
  return { base: checked<ImageBaseName>(BASE, base) };
};

/** Answers every question of init, with a flag or by asking. Throws a `UsageError` for an answer that is not valid. */
export const initAnswers = async (
  flags: InitFlags,
  ask: Ask,
  defaultImageName: string,
): Promise<InitAnswers> => {
  const agent = await agentAnswer(flags, ask);
  const sandbox = checked<SandboxChoiceName>(SANDBOX, flags.sandbox ?? (await ask(SANDBOX)));
  const template = checked<TemplateName>(TEMPLATE, flags.template ?? (await ask(TEMPLATE)));
  return {
    ...agent,
    sandbox,
    template,
    backlog: await backlogAnswer(flags, template, ask),
    imageName: imageNameAnswer(flags, sandbox, defaultImageName),
    ...baseAnswer(flags, sandbox),
  };
};
