import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { command, createSandbox, run } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

// Each program in a sandbox costs more than what it is asked to do, so the programs around an agent's command are counted.

/** `/programs` has a program for each of the system's: it notes its process and its name, and becomes the real one. */
const loggedPrograms = () => {
  const directory = temporaryDirectory();
  const programs = join(directory, "programs");
  const log = join(directory, "log");
  mkdirSync(programs);
  mkdirSync(log);
  writeFileSync(
    join(directory, "note"),
    '#!/bin/dash\nname=$(/usr/bin/basename "$0")\necho "$$ $name" >>/log/starts\nexec "/usr/bin/$name" "$@"\n',
    { mode: 0o755 },
  );
  for (const name of readdirSync("/usr/bin")) symlinkSync("/note", join(programs, name));
  return {
    sandbox: bubblewrap({
      path: "/programs",
      mounts: [
        { hostPath: programs, sandboxPath: "/programs", readOnly: true },
        { hostPath: join(directory, "note"), sandboxPath: "/note", readOnly: true },
        { hostPath: log, sandboxPath: "/log" },
      ],
    }),
    /** The programs of each process, in the order of their starts. */
    processes: () => {
      const byProcess = new Map<string, string[]>();
      for (const line of readFileSync(join(log, "starts"), "utf8").trim().split("\n")) {
        const [id = "", name = ""] = line.split(" ");
        byProcess.set(id, [...(byProcess.get(id) ?? []), name]);
      }
      return [...byProcess.values()].map((names) => names.join(" "));
    },
    clear: () => writeFileSync(join(log, "starts"), ""),
  };
};

const AGENT = command("/usr/bin/git commit --quiet --allow-empty -m Work");

/** Git starts one more, by itself, to pack objects. */
const PACKING = ["timeout", "git"];

describeWith(["bubblewrap"], "the programs around an agent's command", () => {
  it("are few in the first command of a sandbox, which checks it", async () => {
    const { sandbox, processes } = loggedPrograms();
    const cwd = temporaryRepository();
    const branchStrategy = { type: "branch", branch: "agent/x" } as const;
    const { commits } = await run({ agent: AGENT, sandbox, cwd, branchStrategy, prompt: "x" });
    expect(commits).toHaveLength(1);
    expect(processes()).toEqual(["env sh cat", "sh", "git", "sh", ...PACKING]);
  });

  it("are fewer in the next one", async () => {
    const { sandbox, processes, clear } = loggedPrograms();
    const lasting = await createSandbox({ branch: "agent/x", sandbox, cwd: temporaryRepository() });
    try {
      await lasting.run({ agent: AGENT, prompt: "x" });
      clear();
      const { commits } = await lasting.run({ agent: AGENT, prompt: "x" });
      expect(commits).toHaveLength(1);
      expect(processes()).toEqual(["env sh cat", "sh", "sh", ...PACKING]);
    } finally {
      await lasting.close();
    }
  });

  it("are not more if the agent commits nothing", async () => {
    const { sandbox, processes } = loggedPrograms();
    const cwd = temporaryRepository();
    const branchStrategy = { type: "branch", branch: "agent/x" } as const;
    await run({ agent: command("true"), sandbox, cwd, branchStrategy, prompt: "x" });
    expect(processes()).toEqual(["env sh cat", "sh", "git", "sh", ...PACKING]);
  });
});
