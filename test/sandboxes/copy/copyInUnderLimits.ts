/**
 * Copies something large into a sandbox, and says by how many mebibytes the memory in use has grown:
 * `node --expose-gc <this> <host path>`. It is bundled first.
 */

import { liveGrowth } from "../../helpers/processes/liveMemory.ts";
import { libraryCallSandbox } from "../services/libraryCallSandbox.ts";

const [hostPath = ""] = process.argv.slice(2);
const sandbox = await libraryCallSandbox();
try {
  const growth = await liveGrowth(() => sandbox.copyIn(hostPath, `${sandbox.worktreePath}/copy`));
  const { stdout } = await sandbox.exec("find copy -type f -exec wc -c {} +");
  console.log(JSON.stringify({ bytes: Number.parseInt(stdout, 10), growth }));
} finally {
  await sandbox.close();
}
