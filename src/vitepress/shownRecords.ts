import { inject } from "vue";
import type { ReportModel } from "../scenarios/report/model.ts";

/** What a component of a site shows. */
export interface ShownRecords {
  readonly model: ReportModel;
  /** The pages of the scenarios, by id. */
  readonly links: ReadonlyMap<string, string>;
  /** Files that are not records, with the reason. */
  readonly unreadable: readonly string[];
}

/** Vue components that show records once they are loaded. */
export interface SiteComponents {
  readonly summary: unknown;
  ofScenario(id: string): unknown;
}

export const SHOWN_RECORDS = "sanddune:records";

/** The components with the plugin's records. */
export const useSiteComponents = (): SiteComponents => {
  const components = inject<SiteComponents | undefined>(SHOWN_RECORDS, undefined);
  if (components === undefined) {
    throw new Error(
      'The components of "@missingstudio/sanddune/vitepress" have no records. In .vitepress/theme/index.ts: app.use(scenarioRecords(records)), with records from "virtual:scenario-records"',
    );
  }
  return components;
};
