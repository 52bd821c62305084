import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";
import { processIsAlive, waitFor } from "../helpers/waiting.ts";
import { play, STRATEGIES, shell } from "../security/support.ts";

const SILENT = ["that is silent", ">/dev/null 2>&1"] as const;
const CHATTY = ["that keeps printing", ""] as const;
const SERVICES: [string, Runtime[], () => SandboxProvider, readonly (typeof SILENT | typeof CHATTY)[]][] = [
  ["docker", ["docker"], () => docker({ image: TEST_IMAGE }), [SILENT, CHATTY]],
  ["test-isolated", [], () => testIsolated(), [SILENT]],
];

for (const [name, runtimes, make, kinds] of SERVICES) {
  describeWith(runtimes, `a service that a hook starts in the ${name} sandbox`, () => {
    it.each(kinds)("answers the agent (one %s)", async (_, redirection) => {
      const cwd = temporaryRepository();
      const serve = `while :; do echo tick; if [ -e "$HOME/question" ]; then mv "$HOME/question" "$HOME/answer"; fi; sleep 0.05; done`;
      const ask = `touch "$HOME/question"; until [ -e "$HOME/answer" ]; do sleep 0.02; done; echo yes > answered.txt`;
      await play(cwd, [shell(ask), { commit: "Answered" }], {
        sandbox: make(),
        branchStrategy: STRATEGIES.branch,
        idleTimeoutSeconds: 20,
        hooks: { sandbox: { onSandboxReady: [{ command: `(${serve}) ${redirection} &` }] } },
      });
      expect(git(cwd, "show", "agent/work:answered.txt")).toBe("yes");
    });
  });
}

describeWith(["bubblewrap"], "what a host hook leaves running", () => {
  const KINDS = [
    ["a silent process", (body: string) => `sh -c '${body}' >/dev/null 2>&1 &`],
    ["a process that keeps printing", (body: string) => `sh -c '${body}' &`],
    [
      "a process in a session of its own, forked twice",
      (body: string) => `(setsid sh -c '${body}' >/dev/null 2>&1 &)`,
    ],
  ] as const;
  const HOOKS = ["onWorktreeReady", "onSandboxReady"] as const;
  it.each(KINDS.flatMap(([kind, start]) => HOOKS.map((hook) => [kind, hook, start] as const)))(
    "is there while the agent works, and ends with the run: %s of host.%s",
    async (_, hook, start) => {
      const directory = temporaryDirectory();
      const mounts = [{ hostPath: directory, sandboxPath: directory }];
      const read = (name: string) => readFileSync(join(directory, name), "utf8").trim();
      const isAlive = () => processIsAlive(Number(read("pid")));
      const body = `trap "" TERM; echo $$ > ${directory}/pid; while :; do echo tick; echo x >> ${directory}/beats; sleep 0.02; done`;
      const running = play(
        temporaryRepository(),
        [shell(`touch ${directory}/here; until [ -e ${directory}/go ]; do sleep 0.02; done`)],
        { sandbox: bubblewrap({ mounts }), hooks: { host: { [hook]: [{ command: start(body) }] } } },
      );
      await waitFor(() => existsSync(join(directory, "here")));
      const beats = () => read("beats").length;
      const before = beats();
      await waitFor(() => beats() > before || !isAlive());
      const wasAlive = isAlive();
      writeFileSync(join(directory, "go"), "");
      await running;
      expect(wasAlive).toBe(true);
      expect(isAlive()).toBe(false);
    },
  );
});
