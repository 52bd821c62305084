import { defineAsyncComponent } from "vue";
import { InvalidOptionsError } from "../errors/input.ts";
import { type Checks, checkedOptions, listOf, oneOf, text } from "../options/checks/checks.ts";
import type { ScenarioRecord } from "../scenarios/records/record.ts";
import { reportModel, type ScenarioName } from "../scenarios/report/model.ts";
import { LatestRunsSummary, showSummary } from "./latestRunsSummary.ts";
import { RunRecords, showRecords } from "./runRecords.ts";
import { SHOWN_RECORDS, type ShownRecords, type SiteComponents } from "./shownRecords.ts";
import type { PageRecords, SiteRecords } from "./siteRecords.ts";

/** What a theme imports from `virtual:scenario-records`, which `@missingstudio/sanddune/vitepress/plugin` makes. */
export interface RecordModules {
  readonly summary: () => Promise<unknown>;
  readonly scenarios: Readonly<Record<string, () => Promise<unknown>>>;
}

/** A scenario of the site. */
export interface ListedScenario {
  readonly id: string;
  readonly title: string;
  /** The scenario's page. */
  readonly link?: string;
  /** As in its page: earlier results of other runners are not shown. */
  readonly runnable?: "cli" | "agent" | "both" | "manual";
}

/** The options of `scenarioRecords()`. */
export interface ScenarioRecordsOptions {
  /**
   * The scenarios that the summary shows, in this order. Records of other scenarios are left out. By default, all
   * scenarios that have a record, in the order of their ids.
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

/** A Vue plugin. */
export interface ScenarioRecords {
  install(app: VueApp): void;
}

const namesFrom = (records: readonly ScenarioRecord[]): ScenarioName[] =>
  [...new Set(records.map(({ test_id }) => test_id))].sort().map((id) => ({ id, title: id }));

const shownOf = (
  { records, unreadable }: PageRecords,
  { scenarios }: ScenarioRecordsOptions,
): ShownRecords => ({
  model: reportModel(records, scenarios ?? namesFrom(records)),
  links: new Map(scenarios?.flatMap(({ id, link }) => (link === undefined ? [] : [[id, link]]))),
  unreadable,
});

const NOTHING: PageRecords = { records: [], unreadable: [] };

/**
 * The components load their records asynchronously: before the page is written in a build, and with the page in a
 * browser.
 */
const componentsOf = (site: SiteRecords, options: ScenarioRecordsOptions): SiteComponents => {
  const load = (records: () => Promise<PageRecords>, show: (shown: ShownRecords) => unknown): unknown =>
    defineAsyncComponent(async () => {
      const shown = shownOf(await records(), options);
      return (() => show(shown)) as never;
    });
  const known = new Map<string, unknown>();
  return {
    summary: load(site.summary, showSummary),
    ofScenario: (id) => {
      const records = Object.hasOwn(site.scenarios, id) ? site.scenarios[id] : undefined;
      if (!known.has(id))
        known.set(
          id,
          load(records ?? (async () => NOTHING), (shown) => showRecords(shown, id)),
        );
      return known.get(id);
    },
  };
};

const isSite = (records: unknown): boolean =>
  typeof records === "object" &&
  records !== null &&
  "summary" in records &&
  typeof records.summary === "function";

/**
 * Makes the components `<RunRecords test-id="…" />` and `<LatestRunsSummary />` known to a VitePress site, with the
 * records that they show.
 *
 * @example
 * // In .vitepress/theme/index.ts, with the default export of `virtual:scenario-records`: app.use(pluginFor(records));
 * const pluginFor = (records: Parameters<typeof scenarioRecords>[0]) => scenarioRecords(records);
 */
export const scenarioRecords = (
  records: RecordModules,
  options: ScenarioRecordsOptions = {},
): ScenarioRecords => {
  if (!isSite(records)) {
    throw new InvalidOptionsError(
      "records",
      'must be what "virtual:scenario-records" exports. Add scenarioRecordsPlugin() of "@missingstudio/sanddune/vitepress/plugin" to vite.plugins in .vitepress/config.ts',
    );
  }
  const components = componentsOf(records as SiteRecords, checkedOptions(options, OPTIONS));
  return {
    install: (app) => {
      app.provide(SHOWN_RECORDS, components);
      app.component("RunRecords", RunRecords as never);
      app.component("LatestRunsSummary", LatestRunsSummary as never);
    },
  };
};
