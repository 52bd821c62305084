import { relative } from "node:path";
import { CONFIG_DIRECTORY_NAME, ENV_FILE } from "../options/configDirectory.ts";
import { packageManagers } from "../process/ownCommand/packageManager.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import type { InitAnswers } from "./answers.ts";
import { type BacklogManager, backlogManagers } from "./backlogManagers.ts";
import { installers } from "./packageManager.ts";
import type { InitProject } from "./project.ts";
import { mainFileName, type Scaffold } from "./scaffold.ts";
import { templates } from "./templates.ts";

/** A step for the user. */
export interface NextStep {
  readonly what: string;
  readonly command?: string;
}

/** Since then Node runs TypeScript by itself. */
const RUNS_TYPESCRIPT = [22, 18] as const;

const nodeRunsTypeScript = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > RUNS_TYPESCRIPT[0] || (major === RUNS_TYPESCRIPT[0] && minor >= RUNS_TYPESCRIPT[1]);
};

export interface Situation {
  readonly project: InitProject;
  readonly answers: InitAnswers;
  readonly scaffold: Scaffold;
  readonly isBuilt: boolean;
  /** Where the user is. */
  readonly cwd: string;
  readonly nodeVersion: string;
}

/** The user's steps until the first commit of an agent, in order. */
export const nextSteps = ({
  project,
  answers,
  scaffold,
  isBuilt,
  cwd,
  nodeVersion,
}: Situation): NextStep[] => {
  const { packageManager } = project;
  const sanddune = packageManagers[packageManager].installed;
  const { preparation }: BacklogManager = backlogManagers[answers.backlog];
  const main = `${CONFIG_DIRECTORY_NAME}/${mainFileName(project.isModulePackage)}`;
  const isElsewhere = relative(project.directory, cwd) !== "";
  const hasEnvVars = /^\w+=/m.test(scaffold[".env.example"] ?? "");
  const { installedFiles, dependencies, ignoresPackages } = project;
  const isPlugged = dependencies?.directories.length === 0;
  const showsPackages = installedFiles.length > 0 && !isPlugged && !ignoresPackages;
  // Node alone does not find the packages of Plug'n'Play, and with its loader it does not run TypeScript modules.
  const nodeRunsIt = nodeRunsTypeScript(nodeVersion) && !isPlugged;
  const steps: (NextStep | false)[] = [
    isElsewhere && {
      what: "Go to the top of the repository",
      command: `cd ${shellQuote(project.directory)}`,
    },
    !project.hasSanddune && {
      what: `Install sanddune, which ${main} imports`,
      command: project.installCommand,
    },
    hasEnvVars &&
      (project.hasEnvFile
        ? { what: `Add the keys of ${ENV_FILE}.example that you need to ${ENV_FILE}` }
        : {
            what: `Create ${ENV_FILE}, which only you can read, and write your API keys into it`,
            command: `install -m 600 ${ENV_FILE}.example ${ENV_FILE}`,
          }),
    answers.imageName !== undefined &&
      !isBuilt && {
        what: `Build the image ${answers.imageName}`,
        command: `${sanddune} ${answers.sandbox} build-image`,
      },
    templates[answers.template].hasTasks && preparation,
    showsPackages && {
      what: "Let git ignore installed packages, so that agents do not commit them",
      command: "echo /node_modules/ >> .gitignore && git add .gitignore",
    },
    {
      what: "Review the prompts, and commit everything: agents see committed files only",
      command: `git add ${[CONFIG_DIRECTORY_NAME, ...installedFiles].join(" ")} && git commit -m "Set up sanddune"`,
    },
    { what: "Check that everything is installed", command: `${sanddune} doctor` },
    {
      what: "Start the agents",
      command: `${nodeRunsIt ? "node" : installers[packageManager].runTypeScript} ${main}`,
    },
  ];
  return steps.filter((step) => step !== false);
};
