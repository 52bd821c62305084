import type { ScenarioRecord } from "../scenarios/records/record.ts";

/** The records that one page of a site shows. */
export interface PageRecords {
  readonly records: readonly ScenarioRecord[];
  /** Files that should be records and are not, with the reason. */
  readonly unreadable: readonly string[];
}

/** The records of a site. Each page loads only the records that it shows. */
export interface SiteRecords {
  /** The newest suite run of every runner of every scenario. */
  readonly summary: () => Promise<PageRecords>;
  /** The history of a scenario, by its id. */
  readonly scenarios: Readonly<Record<string, () => Promise<PageRecords>>>;
}

/**
 * How many executions a page shows with their steps and assertions. The report shows more; a page has to load fast.
 */
export const SHOWN_EXECUTIONS = 20;

/** How much of each output, and of the notes, a page shows. */
export const SHOWN_CHARACTERS = 2000;
