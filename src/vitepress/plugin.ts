// A plugin for Vite that gives each page of a VitePress site the records that it shows.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Checks, checkedOptions, text } from "../options/checks/checks.ts";
import { scenarioIdProblem } from "../scenarios/pages/scenarioId.ts";
import { readRecords } from "../scenarios/records/readRecords.ts";
import { groupsBy } from "../scenarios/report/model.ts";
import type { PageRecords } from "./siteRecords.ts";
import { forScenario, forSummary } from "./trimRecords.ts";

/** Where the records of a site are. */
export interface ScenarioRecordsPluginOptions {
  /** The records directory, relative to the directory of the site's pages. */
  readonly recordsDir: string;
}

/** The part of Vite's development server that is needed. */
export interface DevelopmentServer {
  readonly watcher: {
    add(path: string): unknown;
    on(event: "all", listener: (event: string, path: string) => void): unknown;
  };
  readonly moduleGraph: {
    getModuleById(id: string): object | undefined;
    invalidateModule(module: never): void;
  };
  readonly ws: { send(message: { readonly type: "full-reload" }): void };
}

/** A Vite plugin. */
export interface ScenarioRecordsPlugin {
  readonly name: string;
  configResolved(config: { readonly root: string }): void;
  configureServer(server: DevelopmentServer): void;
  resolveId(id: string): string | undefined;
  load(this: { warn(message: string): void }, id: string): Promise<string | undefined>;
}

const OPTIONS: Checks<ScenarioRecordsPluginOptions> = { recordsDir: text };

/** The module that a theme imports. The records of each page are in separate modules, which only that page loads. */
const RECORDS = "virtual:scenario-records";
const SUMMARY = `${RECORDS}/summary`;
const SCENARIO = `${RECORDS}/scenario/`;
/** Marks virtual modules, so that other plugins do not look for a file. */
const RESOLVED = "\0";

const moduleOf = (value: unknown): string =>
  `export default JSON.parse(${JSON.stringify(JSON.stringify(value))});\n`;

const loading = (id: string): string => `() => import(${JSON.stringify(id)}).then((m) => m.default)`;

/** Reads all records, and groups them by module. */
const readPages = async (recordsDir: string): Promise<ReadonlyMap<string, PageRecords>> => {
  const { records, problems } = await readRecords(recordsDir);
  // A site is public: it must not name directories of this machine.
  const unreadable = problems.map((problem) => problem.replaceAll(`${recordsDir}/`, ""));
  const byId = groupsBy(records, ({ test_id }) => test_id);
  const ids = new Set([...byId.keys(), ...unreadable.map((problem) => problem.split("/")[0] ?? "")]);
  const pages = [...ids]
    .filter((id) => scenarioIdProblem(id) === undefined)
    .sort()
    .map((id): [string, PageRecords] => [
      SCENARIO + id,
      {
        records: forScenario(byId.get(id) ?? []),
        unreadable: unreadable.filter((problem) => problem.startsWith(`${id}/`)),
      },
    ]);
  return new Map([[SUMMARY, { records: forSummary(records), unreadable }], ...pages]);
};

/**
 * Makes the module `virtual:scenario-records` of the records of a suite, for `scenarioRecords()` of `@missingstudio/sanddune/vitepress`.
 *
 * @example
 * // In .vitepress/config.ts:
 * export default { vite: { plugins: [scenarioRecordsPlugin({ recordsDir: "testing/runs" })] } };
 */
export const scenarioRecordsPlugin = (options: ScenarioRecordsPluginOptions): ScenarioRecordsPlugin => {
  const { recordsDir: given } = checkedOptions(options, OPTIONS);
  let recordsDir = resolve(given);
  let pages: Promise<ReadonlyMap<string, PageRecords>> | undefined;
  const loaded = new Set<string>();
  return {
    name: "sanddune:scenario-records",
    configResolved: ({ root }) => {
      recordsDir = resolve(root, given);
    },
    configureServer: (server) => {
      server.watcher.add(recordsDir);
      server.watcher.on("all", (_, path) => {
        // The index is written last, after all records of a suite run.
        if (path !== join(recordsDir, "index.json")) return;
        pages = undefined;
        for (const id of loaded) {
          const module = server.moduleGraph.getModuleById(id);
          if (module !== undefined) server.moduleGraph.invalidateModule(module as never);
        }
        server.ws.send({ type: "full-reload" });
      });
    },
    resolveId: (id) => (id === RECORDS || id.startsWith(`${RECORDS}/`) ? RESOLVED + id : undefined),
    async load(id) {
      if (!id.startsWith(RESOLVED + RECORDS)) return undefined;
      loaded.add(id);
      if (!existsSync(recordsDir)) this.warn(`There are no records: ${recordsDir} does not exist.`);
      pages ??= readPages(recordsDir);
      const found = await pages;
      if (id !== RESOLVED + RECORDS) return moduleOf(found.get(id.slice(RESOLVED.length)));
      const scenarios = [...found.keys()]
        .filter((name) => name.startsWith(SCENARIO))
        .map((name) => `${JSON.stringify(name.slice(SCENARIO.length))}: ${loading(name)},`);
      return `export default { summary: ${loading(SUMMARY)}, scenarios: {\n${scenarios.join("\n")}\n} };\n`;
    },
  };
};
