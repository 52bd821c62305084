import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A page, named by the path of its file below `docs/`, without the extension. */
interface Page {
  readonly text: string;
  readonly link: string;
}

/** A group of pages in the sidebar. */
interface Section {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly Page[];
}

const DOCUMENTS = join(import.meta.dirname, "..");

const fileOf = (name: string): string =>
  ({
    "adr/": "adr/README.md",
    "api/": "api/README.md",
    "testing/": "testing/index.md",
    glossary: "../CONTEXT.md",
  })[name] ?? `${name}.md`;

const titleOf = (name: string): string =>
  /^# (.*)$/m.exec(readFileSync(join(DOCUMENTS, fileOf(name)), "utf8"))?.[1] ?? name;

/** Pages are called what their first heading calls them. */
const pages = (...names: string[]): Page[] =>
  names.map((name) => ({ text: titleOf(name), link: `/${name}` }));

/** All pages of a directory: a new one needs no line here. */
const pagesIn = (directory: string, names: RegExp): Page[] => {
  const path = join(DOCUMENTS, directory);
  if (!existsSync(path)) return [];
  const files = readdirSync(path).filter((file) => names.test(file));
  return pages(...files.sort().map((file) => `${directory}/${file.slice(0, -".md".length)}`));
};

/** Pages for users, in the order in which a new user would want them. */
export const userSections = (): Section[] => [
  { text: "Start here", items: pages("quick-start", "concepts", "recipes", "cli", "glossary") },
  {
    text: "Entry points",
    items: pages("run", "fleet", "lasting-sandboxes", "interactive", "standalone-sandboxes"),
  },
  {
    text: "Runs",
    items: pages(
      "prompts",
      "branches",
      "env",
      "hooks",
      "logging",
      "trajectories",
      "structured-output",
      "usage-and-limits",
    ),
  },
  {
    text: "Agents",
    items: pages("agents", "agent-sessions", "mcp-servers", "environments", "own-agent-provider"),
  },
  { text: "Sandboxes", items: pages("sandboxes", "images", "own-sandbox-provider", "macos") },
  { text: "Scenarios", items: pages("scenarios", "scenario-reference", "scenario-ci") },
  { text: "Errors and recovery", items: pages("troubleshooting", "errors", "recovery") },
  { text: "Security and performance", items: pages("safety", "performance") },
  {
    text: "API reference",
    collapsed: true,
    items: pages(
      "api/",
      "api/entry-points",
      "api/agents",
      "api/sandboxes",
      "api/errors",
      "api/environments",
      "api/sandbox-providers",
      "api/vitepress",
    ),
  },
];

/** Pages for contributors. */
const forContributors = (): Section[] => [
  {
    text: "Scenarios of this project",
    collapsed: true,
    items: [...pages("testing/"), ...pagesIn("testing/scenarios", /\.md$/)],
  },
  { text: "Project", collapsed: true, items: pages("behaviours", "dependencies") },
  {
    text: "Decisions",
    collapsed: true,
    items: [...pages("adr/"), ...pagesIn("adr", /^\d{4}-.*\.md$/)],
  },
];

/** Every page of the site. */
export const sidebar = (): Section[] => [...userSections(), ...forContributors()];

/** The file of a page on the site, below its directory. */
export const pageFile = ({ link }: Page): string => `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`;

const userPages = new Set(userSections().flatMap(({ items }) => items.map(pageFile)));

/** Whether a page is one for users. */
export const isForUsers = (file: string): boolean => userPages.has(file);
