import { expect, it } from "vitest";
import { ProcessTimeoutError, type SandboxRunResult, scripted } from "../../../src/index.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { leaksIn, SECRET, tracesOf } from "../secrets/traces.ts";
import { shell } from "../support.ts";
import { ending, openSandbox, playIn } from "./lasting.ts";

const PRINT = 'printf "%s\\n" "$TOKEN"; printf "%s\\n" "$TOKEN" >&2';

describeWith(["bubblewrap"], "a secret of a sandbox that lasts", () => {
  const open = async (env: Record<string, string> = { TOKEN: SECRET }) => {
    const cwd = temporaryRepository();
    return { cwd, sandbox: await openSandbox(cwd, { env }) };
  };

  it("is in no trace of any run, whichever run prints it", async () => {
    const { cwd, sandbox } = await open();
    await playIn(sandbox, shell('printf "%s" "$TOKEN" > ~/kept'));
    const ended = await playIn(sandbox, shell("cat ~/kept; echo"), shell(PRINT), { text: "Done." });
    await sandbox.close();
    expect(leaksIn(tracesOf(cwd, { ended, events: [] }))).toEqual([]);
  });

  it("is in no trace of a later run that was given another value, when the sandbox still has the old one", async () => {
    const { cwd, sandbox } = await open({});
    const run = (token: string, step: string) =>
      sandbox.run({ agent: scripted([shell(step)]), prompt: "Work", env: { TOKEN: token } });
    await run(SECRET, 'printf "%s" "$TOKEN" > ~/kept');
    const ended = await run("another value entirely", "cat ~/kept; echo");
    await sandbox.exec("cat ~/kept; echo");
    await sandbox.close();
    expect(leaksIn(tracesOf(cwd, { ended: ended as SandboxRunResult, events: [] }))).toEqual([]);
  });

  it.each([
    ["the sandbox", {}],
    ["the command itself", { env: { TOKEN: SECRET } }],
  ])("that was given to %s is in no log of a command that prints it, and in no error", async (_, options) => {
    const { cwd, sandbox } = await open("env" in options ? {} : { TOKEN: SECRET });
    await sandbox.exec(`${PRINT}; exit 3`, options);
    const error = await ending(sandbox.exec(`${PRINT}; sleep 60`, { ...options, timeoutMs: 2000 }));
    expect(error).toBeInstanceOf(ProcessTimeoutError);
    await sandbox.close();
    expect(leaksIn(tracesOf(cwd, { ended: error as Error, events: [] }))).toEqual([]);
  });
});
