/**
 * Forks a bubblewrap sandbox once, in a process of its own. Argv: the repository, and the commands before and after. Prints what the
 * latter print in both, or the error.
 */
import { createSandbox } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";

const [, , cwd = "", before = "", after = ""] = process.argv;
const sandbox = await createSandbox({ branch: "agent/work", sandbox: bubblewrap(), cwd });
await sandbox.exec(before);
try {
  for (const each of [sandbox, ...(await sandbox.fork(1))]) {
    console.log(JSON.stringify((await each.exec(after)).stdout));
    await each.close();
  }
} catch (error) {
  console.log(String(error));
  await sandbox.close();
}
