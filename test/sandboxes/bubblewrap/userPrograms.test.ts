import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { agentRegistry } from "../../../src/agents/registry.ts";
import { distrustCheckoutOf } from "../../../src/process/hostPrograms.ts";
import { programsFor } from "../../../src/sandboxes/bubblewrap/programsFor.ts";
import { AGENT_PROGRAMS } from "../../../src/sandboxes/bubblewrap/userPrograms.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { openBindMount } from "../openSandbox.ts";

let home: string;

const write = (path: string, text: string): string => {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
};
const link = (path: string, target: string): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  symlinkSync(target, join(home, path));
};

beforeEach(() => {
  home = temporaryDirectory();
  write(".ssh/id_ed25519", "secret");
  vi.stubEnv("HOME", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const onPath = (...directories: string[]): void => {
  const own = directories.map((directory) => join(home, directory));
  vi.stubEnv("PATH", [...own, process.env["PATH"]].join(":"));
};

/** As nvm has it: a package of npm, with a Node.js of its own. */
const installWithNpm = (): string => {
  const prefix = ".nvm/versions/node/v22";
  write(`${prefix}/lib/node_modules/@acme/agent/lib.sh`, "echo from the package");
  write(
    `${prefix}/lib/node_modules/@acme/agent/cli.js`,
    `#!/usr/bin/env node\nprogram ${home}/${prefix}/lib/node_modules/@acme/agent/lib.sh`,
  );
  link(`${prefix}/bin/claude`, "../lib/node_modules/@acme/agent/cli.js");
  write(`${prefix}/bin/node`, '#!/bin/sh\necho "own node"; sed -n "s/^program //p" "$1" | xargs sh\n');
  onPath(`${prefix}/bin`);
  return join(home, prefix);
};

it("knows the programs of all agents that sanddune knows", () => {
  const programs = Object.values(agentRegistry).map(({ create, exampleModel }) => {
    const command = create(exampleModel).installation?.versionCommand ?? [];
    return /^(\S+) --version/.exec(command.slice(command[0] === "sh" ? 2 : 0).join(" "))?.[1];
  });
  expect(programs.sort()).toEqual([...AGENT_PROGRAMS].sort());
});

it("shows a package with its interpreter, and nothing else of its prefix", async () => {
  const prefix = installWithNpm();
  const { links, paths } = await programsFor({}, "/");
  expect([...links.keys()].sort()).toEqual(["claude", "node"]);
  expect([...paths].sort()).toEqual([join(prefix, "bin/node"), join(prefix, "lib/node_modules")]);
});

it("shows the file alone of a binary that a link leads to, as its installer has it", async () => {
  const binary = write(".local/share/claude/versions/2.0.1", "\u007fELF");
  link(".local/bin/claude", binary);
  onPath(".local/bin");
  expect((await programsFor({}, "/")).paths).toEqual([binary]);
});

it("shows the directory of a script that its installer keeps in .local/share, and no other directory of the home", async () => {
  const script = write(".local/share/cursor-agent/versions/1/cursor-agent", "#!/bin/sh\n");
  link(".local/bin/cursor-agent", script);
  const own = write("dotfiles/pi.sh", "#!/bin/sh\n");
  link(".local/bin/pi", own);
  onPath(".local/bin");
  expect([...(await programsFor({}, "/")).paths].sort()).toEqual([dirname(script), own].sort());
});

it("shows a Python environment, and the Python that it is made of", async () => {
  const python = write(".local/share/uv/python/cpython-3.12/bin/python3.12", "\u007fELF");
  const environment = ".local/share/uv/tools/aider-chat";
  write(`${environment}/pyvenv.cfg`, "");
  link(`${environment}/bin/python`, python);
  const script = write(`${environment}/bin/aider`, `#!${home}/${environment}/bin/python\n`);
  link(".local/bin/aider", script);
  onPath(".local/bin");
  expect([...(await programsFor({}, "/")).paths].sort()).toEqual(
    [join(home, environment), dirname(dirname(python))].sort(),
  );
});

it("leaves out an agent that a link leads to in a checkout, where another agent can have named any path as its interpreter", async () => {
  const checkout = join(home, "pi");
  const script = write("pi/cli.js", `#!${home}/.ssh/bin/python3\n`);
  mkdirSync(join(checkout, ".git"));
  link(".local/bin/pi", script);
  onPath(".local/bin");
  distrustCheckoutOf(checkout);
  expect(await programsFor({}, checkout)).toEqual({ links: new Map(), paths: [] });
});

it("leaves out an agent that would show the home directory, and refuses such a program that was asked for", async () => {
  write("pyvenv.cfg", "");
  write("bin/aider", "#!/bin/sh\n");
  onPath("bin");
  expect(await programsFor({}, "/")).toEqual({ links: new Map(), paths: [] });
  await expect(programsFor({ programs: ["aider"] }, "/")).rejects.toThrow(/`programs`.*home directory/);
});

describeWith(["bubblewrap"], "an agent that is installed for one user, in bubblewrap", () => {
  it("is found, runs, and brings nothing else of the home directory along", async () => {
    installWithNpm();
    const { sandbox } = await openBindMount(bubblewrap());
    try {
      expect(await sandbox.exec("claude")).toMatchObject({
        stdout: "own node\nfrom the package\n",
        exitCode: 0,
      });
      const { stdout } = await sandbox.exec(`ls -A ${home} ${home}/.nvm/versions/node/v22`);
      expect(stdout).not.toContain(".ssh");
      expect(stdout.split("\n")).toContain("lib");
      const attack = `echo x > ${home}/.nvm/versions/node/v22/lib/node_modules/@acme/agent/cli.js`;
      expect((await sandbox.exec(attack)).exitCode).not.toBe(0);
    } finally {
      await sandbox.close();
    }
    expect(readdirSync(home).sort()).toEqual([".nvm", ".ssh"]);
  });

  it("is not there if PATH was chosen without it", async () => {
    installWithNpm();
    const { sandbox } = await openBindMount(bubblewrap({ path: "/usr/bin:/bin" }));
    try {
      expect((await sandbox.exec("claude")).exitCode).toBe(127);
    } finally {
      await sandbox.close();
    }
  });
});
