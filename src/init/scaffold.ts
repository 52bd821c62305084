import type { AgentProvider } from "../agents/contract.ts";
import { agentRegistry, needsNetwork } from "../agents/registry.ts";
import { dockerfileFor } from "../images/dockerfile.ts";
import { PRIVATE_PARTS } from "../options/configDirectory.ts";
import { PACKAGE_NAME } from "../options/packageName.ts";
import { packageManagers } from "../process/ownCommand/packageManager.ts";
import { PROJECT_CONFIG_FILE, type ProjectConfig } from "../project/config.ts";
import { COMMAND_AGENT, type InitAnswers } from "./answers.ts";
import { type BacklogManager, backlogManagers, TASK_FILE } from "./backlogManagers.ts";
import type { Dependencies } from "./dependencies/dependencies.ts";
import { packageManagerLines, setupStatement } from "./dependencies/setup.ts";
import { envExample } from "./envExample.ts";
import { type ImageBase, imageBases } from "./imageBases.ts";
import type { InitProject } from "./project.ts";
import { sandboxChoices } from "./sandboxChoices.ts";
import { fillIn, type TemplateArguments } from "./templateArguments.ts";
import { readTemplate, readTemplateFile, templates } from "./templates.ts";

/** The files of a scaffold: texts by name, below `.sanddune/`. */
export type Scaffold = Readonly<Record<string, string>>;

const TASKS = `# Tasks

Agents read this list as it is committed on your branch. Each task has an id of letters, digits, \`_\` and \`-\`. A task is
done when a commit says so: its subject begins with \`Task <id>: \`.

## 1: Say what the project is good for

README.md gets a sentence that says it.
`;

const agentOf = (
  answers: InitAnswers,
): { readonly title: string; readonly factory: string; readonly provider: AgentProvider } | undefined => {
  if (answers.agent === COMMAND_AGENT) return undefined;
  const { title, factory, create } = agentRegistry[answers.agent];
  return { title, factory, provider: create(answers.model) };
};

const call = (factory: string, argument: string | undefined): string =>
  `${factory}(${argument === undefined ? "" : JSON.stringify(argument)})`;

const sandboxExpression = (
  { sandbox, imageName, agent }: InitAnswers,
  { needsNetwork: asksServer }: BacklogManager,
): string => {
  if (imageName !== undefined) return `${sandbox}({ imageName: ${JSON.stringify(imageName)} })`;
  return needsNetwork(agent) || asksServer ? `${sandbox}({ network: true })` : `${sandbox}()`;
};

const templateArguments = (
  answers: InitAnswers,
  backlog: BacklogManager,
  dependencies: Dependencies | undefined,
): TemplateArguments => {
  const factory = agentOf(answers)?.factory ?? COMMAND_AGENT;
  return {
    AGENT_FACTORY: factory,
    AGENT: call(factory, answers.agent === COMMAND_AGENT ? answers.agentCommand : answers.model),
    SANDBOX_FACTORY: answers.sandbox,
    SANDBOX: sandboxExpression(answers, backlog),
    SETUP: setupStatement(answers.sandbox, dependencies),
    LIST_TASKS_COMMAND: backlog.listCommand,
    VIEW_TASK_COMMAND: backlog.viewCommand,
    CLOSE_TASK_STEP: backlog.closeStep,
  };
};

/** Where editors find the schema of the config file, in a project that has sanddune installed. */
const INSTALLED_SCHEMA = `../node_modules/${PACKAGE_NAME}/schemas/config.schema.json`;

const projectConfig = ({ template: _, base: __, ...answers }: InitAnswers): string => {
  const config: ProjectConfig = { $schema: INSTALLED_SCHEMA, ...answers };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};

/** The nearest package.json decides whether Node treats a `.ts` file as a module, which it has to be. */
export const mainFileName = (isModulePackage: boolean): string => (isModulePackage ? "main.ts" : "main.mts");

/** The facts about the project that a scaffold needs. */
export type ScaffoldProject = Pick<InitProject, "isModulePackage" | "packageManager" | "dependencies">;

/** All files of a scaffold. Nothing is written. */
export const scaffoldFor = (
  answers: InitAnswers,
  { isModulePackage, packageManager, dependencies }: ScaffoldProject,
): Scaffold => {
  const backlog: BacklogManager = backlogManagers[answers.backlog];
  const { imageFile, ignoreFile } = sandboxChoices[answers.sandbox];
  const texts = readTemplate(answers.template);
  const { file: baseFile }: ImageBase = imageBases[answers.base ?? "node"];
  const args = templateArguments(answers, backlog, dependencies);
  const agent = agentOf(answers);
  const prompts = Object.entries(texts.prompts).map(([name, text]) => [name, fillIn(text, args)] as const);
  const hasTaskFile = answers.backlog === "none" && templates[answers.template].hasTasks;
  const privateLines = PRIVATE_PARTS.map((part) => `/${part}\n`).join("");
  return {
    [PROJECT_CONFIG_FILE]: projectConfig(answers),
    [mainFileName(isModulePackage)]: fillIn(texts.main, args),
    ...Object.fromEntries(prompts),
    ...(hasTaskFile && { [TASK_FILE]: TASKS }),
    ...(imageFile && {
      [imageFile]: dockerfileFor({
        templateText: texts.image,
        baseText: baseFile && readTemplateFile(baseFile),
        buildCommand: `${packageManagers[packageManager].installed} ${answers.sandbox} build-image`,
        packageManager: packageManagerLines(dependencies),
        agent: agent?.provider,
        backlogTools: backlog.dockerfile,
      }),
    }),
    ".env.example": envExample(agent, backlog),
    ".gitignore": privateLines,
    ...(ignoreFile && { [ignoreFile]: PRIVATE_PARTS.map((part) => `${part}\n`).join("") }),
  };
};
