// What a VitePress site of yours shows records of scenarios with.
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
