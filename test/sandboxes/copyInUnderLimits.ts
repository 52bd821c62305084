/**
 * Copies something large into a sandbox, and says how much memory that took: `node <this> <host path>`. It is bundled
 * first.
 */
import { libraryCallSandbox } from "./libraryCallSandbox.ts";

const [hostPath = ""] = process.argv.slice(2);
const sandbox = await libraryCallSandbox();
try {
  await sandbox.exec("true");
  const before = process.resourceUsage().maxRSS;
  await sandbox.copyIn(hostPath, `${sandbox.worktreePath}/copy`);
  const grownMebibytes = (process.resourceUsage().maxRSS - before) / 1024;
  const { stdout } = await sandbox.exec("find copy -type f -exec wc -c {} +");
  console.log(JSON.stringify({ bytes: Number.parseInt(stdout, 10), grownMebibytes }));
} finally {
  await sandbox.close();
}
