// Components that show records of scenarios on a VitePress site.
export { LatestRunsSummary } from "./latestRunsSummary.ts";
export { RunRecords, type RunRecordsProps } from "./runRecords.ts";
export {
  type ListedScenario,
  type RecordModules,
  type ScenarioRecords,
  type ScenarioRecordsOptions,
  scenarioRecords,
  type VueApp,
} from "./scenarioRecords.ts";
