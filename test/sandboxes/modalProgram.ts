/** What a process of its own does with Modal. Argv: `preflight`, or `copy` and a directory with a file `in`. Says how it went as JSON. */
import { join } from "node:path";
import { modal } from "../../src/sandboxes/modal.ts";

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
  await sandbox.copyIn(join(directory, "in"), path);
  await sandbox.copyFileOut(path, join(directory, "out"));
  await sandbox.close();
  return { maxRssBytes: process.resourceUsage().maxRSS * 1024 };
};

const [, , what, directory = ""] = process.argv;
console.log(JSON.stringify(await (what === "copy" ? copy(directory) : preflight())));
