import { inject } from "vue";
import type { ReportModel } from "../scenarios/report/model.ts";

/** What the components of a site show. */
export interface ShownRecords {
  readonly model: ReportModel;
  /** The pages of the scenarios, by id. */
  readonly links: ReadonlyMap<string, string>;
  /** Paths of files that are no records. */
  readonly unreadable: readonly string[];
}

export const SHOWN_RECORDS = "sanddune:records";

/** The records that the plugin was given. */
export const useShownRecords = (): ShownRecords => {
  const shown = inject<ShownRecords | undefined>(SHOWN_RECORDS, undefined);
  if (shown === undefined) {
    throw new Error(
      'The components of "sanddune/vitepress" have no records. In .vitepress/theme/index.ts: app.use(scenarioRecords(import.meta.glob(…)))',
    );
  }
  return shown;
};
