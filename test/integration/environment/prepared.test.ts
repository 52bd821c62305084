import { expect, it } from "vitest";
import { SandboxLostError } from "../../../src/errors.ts";
import {
  type AgentStreamEvent,
  type BindMountSandboxProvider,
  createSandbox,
  run,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { greetingEnvironment } from "../../helpers/environments.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const BRANCH = { type: "branch", branch: "agent/greet" } as const;
const HELLO = { commit: "Greet", files: { "hello.txt": "hello\n" } };

/** Notes what happens: sandboxes that are made, by the end of their names, and what the agent says. */
const noting = (happened: string[], breaks: readonly string[] = []): BindMountSandboxProvider => {
  const provider = bubblewrap();
  return {
    ...provider,
    create: async (options) => {
      const name = options.sandboxName.replace(/^sanddune-\d+-\d+-\w+-?/, "") || "agent";
      happened.push(name);
      const handle = await provider.create(options);
      if (!breaks.includes(name)) return handle;
      return {
        ...handle,
        exec: () => Promise.reject(new SandboxLostError("bubblewrap", "it is gone", "")),
      };
    },
  };
};

const speaking = (happened: string[]) => ({
  type: "file" as const,
  quiet: true,
  onAgentStreamEvent: (event: AgentStreamEvent) => {
    if (event.type === "text") happened.push(event.text.trim());
  },
});

describeWith(["bubblewrap"], "the sandbox in which a commit is tested", () => {
  const WORK = [{ text: "working" }, HELLO];

  it("is made before the agent ends its work; with a set-up script only afterwards, since that may leave a server within reach", async () => {
    for (const [files, expected] of [
      [{}, ["agent", "tests-1", "working"]],
      [{ "setup.sh": "true\n" }, ["agent", "working", "tests-1"]],
    ] as const) {
      const happened: string[] = [];
      const { iterations } = await run({
        agent: scripted(WORK),
        sandbox: noting(happened),
        cwd: temporaryRepository(),
        branchStrategy: BRANCH,
        prompt: "Greet.",
        environment: greetingEnvironment(files),
        logging: speaking(happened),
      });
      expect(iterations).toMatchObject([{ tests: { passed: 2, total: 2, error: null } }]);
      expect(happened).toEqual(expected);
    }
  });

  it("is made anew if it is lost while the agent works", async () => {
    const happened: string[] = [];
    const { iterations, warnings } = await run({
      agent: scripted(WORK),
      sandbox: noting(happened, ["tests-1"]),
      cwd: temporaryRepository(),
      branchStrategy: BRANCH,
      prompt: "Greet.",
      environment: greetingEnvironment(),
      logging: { type: "file", quiet: true },
    });
    expect(iterations).toMatchObject([{ tests: { passed: 2, total: 2, error: null } }]);
    expect(happened).toEqual(["agent", "tests-1", "tests-2"]);
    expect(warnings).toEqual([]);
  });

  it("does not outlast a run that fails or is aborted, nor the lasting sandbox that it belongs to", async () => {
    const cwd = temporaryRepository();
    const happened: string[] = [];
    await using sandbox = await createSandbox({
      sandbox: noting(happened),
      cwd,
      branch: BRANCH.branch,
      environment: greetingEnvironment(),
    });
    expect(happened).toEqual(["agent"]);
    const logging = { type: "file", quiet: true } as const;
    await expect(
      sandbox.run({ agent: scripted([{ exit: 1 }]), prompt: "Greet.", logging }),
    ).rejects.toMatchObject({ name: "AgentFailedError" });
    const stop = new AbortController();
    const aborted = sandbox.run({
      agent: scripted([{ text: "working" }, { shell: "sleep 1000" }]),
      prompt: "Greet.",
      signal: stop.signal,
      logging: { ...logging, onAgentStreamEvent: () => stop.abort(new Error("enough")) },
    });
    await expect(aborted).rejects.toThrow("enough");
    const { iterations } = await sandbox.run({ agent: scripted([HELLO]), prompt: "Greet.", logging });
    expect(iterations).toMatchObject([{ tests: { passed: 2, total: 2, error: null } }]);
    // What was made ready for a run that came to nothing serves the next one.
    expect(happened).toEqual(["agent", "tests-1"]);
    await sandbox.close();
    expect(leftovers(cwd)).toEqual([]);
  });
});
