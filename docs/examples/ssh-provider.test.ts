import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sandboxConformance } from "@missingstudio/sanddune/testing";
import { sshProvider } from "./ssh-provider.ts";

/** In the place of another machine: a shell of this one, with a home and an environment of its own. */
const home = mkdtempSync(join(tmpdir(), "other-machine-"));
const provider = sshProvider("localhost", (commandLine) => [
  "env",
  ...["-i", "-C", home, `HOME=${home}`, `PATH=${process.env["PATH"]}`, "sh", "-c", commandLine],
]);

let count = 0;
const open = () =>
  provider.create({ runId: "conformance", sandboxName: `conformance-${++count}`, repositoryPath: home });

const { cases, close } = sandboxConformance(open, { ownsProcessNamespace: false });
for (const { name, run } of cases) test(name, run);
after(async () => {
  await close();
  rmSync(home, { recursive: true });
});
