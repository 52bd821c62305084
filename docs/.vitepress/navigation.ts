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

const page = (text: string, name: string): Page => ({ text, link: `/${name}` });

const DOCUMENTS = join(import.meta.dirname, "..");

const titleOf = (file: string): string =>
  /^# (.*)$/m.exec(readFileSync(join(DOCUMENTS, file), "utf8"))?.[1] ?? file;

/** All pages of a directory by their titles: a new one needs no line here. */
const pagesIn = (directory: string, names: RegExp): Page[] => {
  const path = join(DOCUMENTS, directory);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((file) => names.test(file))
    .sort()
    .map((file) => page(titleOf(`${directory}/${file}`), `${directory}/${file.slice(0, -".md".length)}`));
};

/** Every page of the site, in the order in which somebody new would want them. */
export const sidebar = (): Section[] => [
  {
    text: "Start here",
    items: [
      page("Quick start", "quick-start"),
      page("Concepts", "concepts"),
      page("Recipes", "recipes"),
      page("Command line", "cli"),
    ],
  },
  {
    text: "Doors",
    items: [
      page("run()", "run"),
      page("runAll(): many runs", "fleet"),
      page("createSandbox(), createWorktree()", "lasting-sandboxes"),
      page("interactive()", "interactive"),
      page("createSandboxHandle()", "standalone-sandboxes"),
    ],
  },
  {
    text: "A run in detail",
    items: [
      page("Prompts", "prompts"),
      page("Branch strategies", "branches"),
      page("Env vars and secrets", "env"),
      page("Hooks", "hooks"),
      page("Logging", "logging"),
      page("Trajectories and replay", "trajectories"),
      page("Structured output", "structured-output"),
      page("Usage, budgets, rate limits", "usage-and-limits"),
    ],
  },
  {
    text: "Agents",
    items: [
      page("Agents and their options", "agents"),
      page("Agent sessions", "agent-sessions"),
      page("MCP servers", "mcp-servers"),
      page("Environments: tests for the agent", "environments"),
      page("Your own agent provider", "own-agent-provider"),
    ],
  },
  {
    text: "Sandboxes",
    items: [
      page("Sandboxes and their options", "sandboxes"),
      page("Images", "images"),
      page("Your own sandbox provider", "own-sandbox-provider"),
    ],
  },
  {
    text: "Scenarios",
    items: [
      page("Grading a tool or an agent", "scenarios"),
      page("Everything a scenario can say", "scenario-reference"),
      page("Reports, a site, CI", "scenario-ci"),
    ],
  },
  {
    text: "When it goes wrong",
    items: [
      page("Troubleshooting", "troubleshooting"),
      page("Errors", "errors"),
      page("Recovery", "recovery"),
    ],
  },
  {
    text: "Trust and cost",
    items: [page("Security model", "safety"), page("Performance", "performance")],
  },
  {
    text: "Our own scenarios",
    collapsed: true,
    items: [page("Latest results", "testing/"), ...pagesIn("testing/scenarios", /\.md$/)],
  },
  {
    text: "Internals",
    collapsed: true,
    items: [
      page("Glossary", "glossary"),
      page("Promises and their tests", "behaviours"),
      page("Dependencies", "dependencies"),
    ],
  },
  {
    text: "Decisions",
    collapsed: true,
    items: [page("All records", "adr/"), ...pagesIn("adr", /^\d{4}-.*\.md$/)],
  },
];
