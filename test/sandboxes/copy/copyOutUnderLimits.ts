/**
 * Copies a large file out of a sandbox, and says by how many mebibytes the memory in use has grown:
 * `node --expose-gc <this> <mebibytes> <host path>`. It is bundled first.
 */
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { liveGrowth } from "../../helpers/processes/liveMemory.ts";
import { openIsolated } from "../openSandbox.ts";

const [mebibytes = "", hostPath = ""] = process.argv.slice(2);
const sandbox = await openIsolated(testIsolated());
try {
  await sandbox.exec(`truncate -s ${mebibytes}M large`);
  const growth = await liveGrowth(() => sandbox.copyFileOut(`${sandbox.worktreePath}/large`, hostPath));
  console.log(growth);
} finally {
  await sandbox.close();
}
