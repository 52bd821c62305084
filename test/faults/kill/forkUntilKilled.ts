/** Forks a sandbox, in a process of its own that the test kills. Argv: an order as JSON. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createBindMountSandboxProvider,
  createIsolatedSandboxProvider,
  createSandbox,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type {
  SandboxCreateOptions,
  SandboxHandle,
  SandboxProvider,
} from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";

export interface ForkOrder {
  readonly cwd: string;
  readonly provider: "bubblewrap" | "docker" | "e2b";
  readonly image: string;
  /** Of an engine on another machine. */
  readonly host?: string;
  readonly marks: string;
  /** How many forks are complete before the next one hangs; `undefined` if the snapshot does, when it is complete. */
  readonly complete?: number;
}

const { cwd, provider, image, host, marks, complete } = JSON.parse(process.argv[2] ?? "") as ForkOrder;

const hang = (): Promise<never> => {
  writeFileSync(join(marks, "hangs"), "");
  return new Promise(() => {});
};

let count = 0;
const hanging =
  <Options extends SandboxCreateOptions, Handle extends SandboxHandle>(
    create: (options: Options) => Promise<Handle>,
  ) =>
  async (options: Options): Promise<Handle> => {
    const handle = await create(options);
    const { snapshot } = handle;
    if (complete === undefined && snapshot !== undefined) {
      return {
        ...handle,
        snapshot: async (place: Parameters<typeof snapshot>[0]) => snapshot(place).then(hang),
      };
    }
    return options.snapshot === undefined || count++ < (complete ?? 0) ? handle : hang();
  };

const hangingProvider = (): SandboxProvider => {
  if (provider === "e2b") {
    const inner = e2b();
    return createIsolatedSandboxProvider({ ...inner, create: hanging(inner.create) });
  }
  if (host !== undefined) {
    const inner = docker({ imageName: image, host });
    return createIsolatedSandboxProvider({ ...inner, create: hanging(inner.create) });
  }
  const inner = provider === "docker" ? docker({ imageName: image }) : bubblewrap();
  return createBindMountSandboxProvider({ ...inner, create: hanging(inner.create) });
};

const sandbox = await createSandbox({ branch: "agent/work", sandbox: hangingProvider(), cwd });
await sandbox.exec(
  `git commit -q --allow-empty -m Work; echo x >stashed; git add stashed; git stash push -q; echo x >untracked; echo x >/tmp/x
mkdir "$(git rev-parse --git-dir)/many"; cd "$(git rev-parse --git-dir)/many" && seq 3000 | split -l 1 -a 4`,
);
setInterval(() => {}, 1000);
await sandbox.fork(3);
writeFileSync(join(marks, "forked"), "");
