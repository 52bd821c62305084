import { type Checks, checkedOptions, listOf, oneOf, text } from "../options/checks.ts";
import { INDEX_SCHEMA, type RunRecord } from "../scenarios/record.ts";
import { belongsThere } from "../scenarios/records/recordName.ts";
import { isRunRecord } from "../scenarios/report/isRunRecord.ts";
import { reportModel, type ScenarioName } from "../scenarios/report/model.ts";
import { LatestRunsSummary } from "./latestRunsSummary.ts";
import { RunRecords } from "./runRecords.ts";
import { SHOWN_RECORDS, type ShownRecords } from "./shownRecords.ts";

/** What `import.meta.glob` finds, by path: the text of records (`query: "?raw"`), or the records themselves. */
export type RecordModules = Readonly<Record<string, unknown>>;

/** A scenario of the site's. */
export interface ListedScenario {
  readonly id: string;
  readonly title: string;
  /** The scenario's page. */
  readonly link?: string;
  /** As in its page: what others than these runners have made of it earlier is not shown. */
  readonly runnable?: "cli" | "agent" | "both" | "manual";
}

/** What the site knows of its scenarios besides their records. */
export interface ScenarioRecordsOptions {
  /**
   * The scenarios that there are, in the order in which the summary shows them. Records of others are left out.
   * Without, every scenario that has a record is shown, in the order of the ids.
   */
  readonly scenarios?: readonly ListedScenario[];
}

const SCENARIO: Checks<ListedScenario> = {
  id: text,
  title: text,
  link: text,
  runnable: oneOf(["cli", "agent", "both", "manual"]),
};

const OPTIONS: Checks<ScenarioRecordsOptions> = { scenarios: listOf("scenarios", SCENARIO, ["id", "title"]) };

/** The part of a Vue application that is needed. */
export interface VueApp {
  component(name: string, component: never): unknown;
  provide(key: string, value: unknown): unknown;
}

/** A plugin of Vue's. */
export interface ScenarioRecords {
  install(app: VueApp): void;
}

const parse = (content: unknown): unknown => {
  if (typeof content !== "string") return content;
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
};

const isIndex = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "schema" in value && value.schema === INDEX_SCHEMA;

/** Whether a file is a record of the scenario that its directory is called after. */
const isRecordAt = (path: string, value: unknown): value is RunRecord => {
  const [name = "", id = ""] = path.split("/").reverse();
  return isRunRecord(value) && belongsThere(value, id, name);
};

const namesFrom = (records: readonly RunRecord[]): ScenarioName[] =>
  [...new Set(records.map(({ test_id }) => test_id))].sort().map((id) => ({ id, title: id }));

const read = (modules: RecordModules, { scenarios }: ScenarioRecordsOptions): ShownRecords => {
  const contents = Object.entries(modules)
    .map(([path, content]) => ({ path, value: parse(content) }))
    .filter(({ value }) => !isIndex(value));
  const records = contents.flatMap(({ path, value }) => (isRecordAt(path, value) ? [value] : []));
  return {
    model: reportModel(records, scenarios ?? namesFrom(records)),
    links: new Map(scenarios?.flatMap(({ id, link }) => (link === undefined ? [] : [[id, link]]))),
    unreadable: contents.filter(({ path, value }) => !isRecordAt(path, value)).map(({ path }) => path),
  };
};

/**
 * Makes the components `<RunRecords test-id="…" />` and `<LatestRunsSummary />` known to a VitePress site, with the
 * records that they show.
 *
 * @example
 * // What import.meta.glob("…/runs/**\/*.json", { eager: true, query: "?raw", import: "default" }) gives in a theme.
 * const records = { "runs/install/20260101.json": "{}" };
 * const plugin = scenarioRecords(records, { scenarios: [{ id: "install", title: "Install", link: "/install" }] });
 * // In enhanceApp: app.use(plugin)
 */
export const scenarioRecords = (
  modules: RecordModules,
  options: ScenarioRecordsOptions = {},
): ScenarioRecords => {
  const shown = read(modules, checkedOptions(options, OPTIONS));
  return {
    install: (app) => {
      app.provide(SHOWN_RECORDS, shown);
      app.component("RunRecords", RunRecords as never);
      app.component("LatestRunsSummary", LatestRunsSummary as never);
    },
  };
};
