/**
 * What a process of its own does with Modal. Argv: `preflight`, or `copy` and a directory with a file `in`. Says how it went as
 * JSON; of a copy, by how many mebibytes the memory in use has grown.
 */
import { join } from "node:path";
import { modal } from "../../../src/sandboxes/modal.ts";
import { liveGrowth } from "../../helpers/processes/liveMemory.ts";

const preflight = async () => {
  const error = await modal()
    .preflight?.({ repositoryPath: "/" })
    .then(
      () => undefined,
      (reason: Error) => reason,
    );
  return { name: error?.name, message: error?.message };
};

const copy = async (directory: string) => {
  const sandbox = await modal().create({ runId: "copy", sandboxName: "copy", repositoryPath: "/" });
  const path = `${sandbox.worktreePath}/file`;
  const inGrowth = await liveGrowth(() => sandbox.copyIn(join(directory, "in"), path));
  const outGrowth = await liveGrowth(() => sandbox.copyFileOut(path, join(directory, "out")));
  await sandbox.close();
  return { inGrowth, outGrowth };
};

const [, , what, directory = ""] = process.argv;
console.log(JSON.stringify(await (what === "copy" ? copy(directory) : preflight())));
