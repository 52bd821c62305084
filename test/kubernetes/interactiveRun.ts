/** An interactive session in a cluster, at the terminal it is started from. Argv: the repository and the image. */
import { command, createSandbox } from "../../src/index.ts";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";

const [cwd = "", image = ""] = process.argv.slice(2);
const sandbox = await createSandbox({ branch: "agent/talk", sandbox: kubernetes({ imageName: image }), cwd });
const { exitCode, commits } = await sandbox.interactive({
  agent: command("false", { interactive: "sh ./agent.sh" }),
});
console.log(`exit code ${exitCode}, commits ${commits.length}`);
await sandbox.close();
