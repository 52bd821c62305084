import type { AgentStep } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";

export interface PromptContext {
  readonly suite: Pick<ScenarioSuite, "prompts" | "productName" | "siteUrl">;
  /** The address that the tested product is fetched from. */
  readonly baseUrl: string | undefined;
  /** `baseUrl` is the local mirror, which replaces the public site. */
  readonly usesMirror: boolean;
}

interface Words {
  readonly product: string;
  /** A phrase that says where a page of the product's instructions is. */
  page(path: string): string;
}

/** The prompts that the words of `agent` steps stand for. */
const PROMPTS: Readonly<Record<string, (words: Words) => string>> = {
  install: ({ product, page }) =>
    `Read ${page("install/SKILL.md")} and install ${product} into this project as they say. Work in this directory only, do not ask anything, and say when you are done.`,
  update: ({ product, page }) =>
    `Read ${page("install/update.md")} and update ${product} in this project to the newest version of its manifest. Keep what the project has changed for itself, do not ask anything, and say when you are done.`,
  sync: ({ product, page }) =>
    `Read ${page("install/sync.md")} and compare the files of ${product} in this project with its manifest. Say which of them differ, and put right what the instructions let you.`,
  uninstall: ({ product, page }) =>
    `Read ${page("install/uninstall.md")} and uninstall ${product} from this project. Leave alone what does not belong to it, do not ask anything, and say when you are done.`,
  boot: ({ product }) => `hi ${product.toLowerCase()}`,
};

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

const wordsOf = ({ suite, baseUrl, usesMirror }: PromptContext): Words => {
  const site = usesMirror ? (suite.siteUrl ?? baseUrl) : (baseUrl ?? suite.siteUrl);
  return {
    product: suite.productName ?? "the product",
    page: (path) =>
      site === undefined
        ? "the instructions that come with it"
        : `the instructions at ${withoutSlash(site)}/${path}`,
  };
};

const promptOf = (step: AgentStep, context: PromptContext): string => {
  const { prompts = {} } = context.suite;
  const own = step.prompt ?? (Object.hasOwn(prompts, step.agent) ? prompts[step.agent] : undefined);
  if (own !== undefined) return own;
  const words = wordsOf(context);
  const known = Object.hasOwn(PROMPTS, step.agent) ? PROMPTS[step.agent] : undefined;
  return known?.(words) ?? `Run the "${step.agent}" workflow of ${words.product} in this project.`;
};

/** The prompt of a step, with the address of the mirror if one replaces the public site. */
export const promptFor = (step: AgentStep, context: PromptContext): string => {
  const prompt = promptOf(step, context);
  if (!context.usesMirror) return prompt;
  return `${prompt}\n\nNote: For this sandbox run, fetch source files from ${context.baseUrl} instead of the public site.`;
};
