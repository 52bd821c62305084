declare module "virtual:scenario-records" {
  const records: import("../../../src/vitepress/index.ts").RecordModules;
  export default records;
}
