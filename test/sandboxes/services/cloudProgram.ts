/**
 * What a process of its own does with a service. Argv: the service, then `preflight`, or `copy` and a directory with a file
 * `in`. Says how it went as JSON; of a copy, by how many mebibytes the memory in use has grown.
 */
import { join } from "node:path";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { vercel } from "../../../src/sandboxes/vercel.ts";
import { liveGrowth } from "../../helpers/processes/liveMemory.ts";

const [, , service, what, directory = ""] = process.argv;
const provider = service === "e2b" ? e2b() : vercel();

const preflight = async () => {
  const error = await provider.preflight?.({ repositoryPath: "/" }).then(
    () => undefined,
    (reason: Error) => reason,
  );
  return { name: error?.name, message: error?.message };
};

const copy = async () => {
  const sandbox = await provider.create({ runId: "copy", sandboxName: "copy", repositoryPath: "/" });
  const path = `${sandbox.worktreePath}/file`;
  const inGrowth = await liveGrowth(() => sandbox.copyIn(join(directory, "in"), path));
  const outGrowth = await liveGrowth(() => sandbox.copyFileOut(path, join(directory, "out")));
  await sandbox.close();
  return { inGrowth, outGrowth };
};

console.log(JSON.stringify(await (what === "copy" ? copy() : preflight())));
