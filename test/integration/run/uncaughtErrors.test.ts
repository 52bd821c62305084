import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { builtCli } from "../../helpers/built.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const built = dirname(builtCli());

/** Runs a program that uses the package as it is published, and gives what it prints to stderr. */
const stderrOf = (body: string, env: Record<string, string> = {}): string => {
  const path = join(temporaryDirectory(), "program.mjs");
  writeFileSync(
    path,
    `import * as sanddune from ${JSON.stringify(join(built, "index.js"))};
    import { testIsolated } from ${JSON.stringify(join(built, "sandboxes/test-isolated.js"))};
    const { run, runAll, createSandbox, createStandaloneSandbox, scripted } = sanddune;
    const options = {
      agent: scripted([{ exit: 3 }]),
      sandbox: testIsolated(),
      cwd: ${JSON.stringify(temporaryRepository())},
      prompt: "x",
      logging: { type: "file", quiet: true },
    };
    ${body}`,
  );
  return spawnSync(process.execPath, [path], { encoding: "utf8", env: { ...process.env, ...env } }).stderr;
};

const EFFECT = /effect|Fiber/i;

describe("the stack of an error that nothing catches", () => {
  it.each([
    ["is awaited", "async function fixTheBug() { await run(options); }\nawait fixTheBug();"],
    ["is not awaited", "function fixTheBug() { void run(options); }\nfixTheBug();"],
  ])("names the caller's function and file when the run %s, and no function of Effect", (_, body) => {
    const stderr = stderrOf(body);
    expect(stderr).toMatch(/^AgentFailedError: .*exit code 3/m);
    expect(stderr).toMatch(/^ {4}at fixTheBug \(file:.*program\.mjs:\d+:\d+\)$/m);
    expect(stderr).not.toMatch(EFFECT);
    expect(stderr).not.toContain("new ERRORS");
  });

  it("is followed by where in sanddune it was made with SANDDUNE_DEBUG=1", () => {
    const stderr = stderrOf("await run(options);", { SANDDUNE_DEBUG: "1" });
    expect(stderr).toMatch(/program\.mjs:\d+:\d+[\s\S]*Fiber/);
  });

  it("names the caller's function by every entry point", () => {
    const stderr = stderrOf(`
      const { agent, prompt, cwd, sandbox: provider, logging } = options;
      const sandbox = await createSandbox({ sandbox: provider, cwd, branch: "b", logging });
      const machine = await createStandaloneSandbox(provider);
      const entryPoints = {
        runAll: async () => { throw (await runAll([options])).outcomes[0].error },
        wrongFleet: async () => { await runAll([options], { concurrency: 0 }) },
        wrongRun: async () => { await run({ ...options, promt: 1 }) },
        sandboxRun: async () => { await sandbox.run({ agent, prompt, logging }) },
        machineFile: async () => { await machine.readFile("nothing") },
      };
      for (const [name, call] of Object.entries(entryPoints)) {
        const { stack } = await call().catch((error) => error);
        const isNamed = new RegExp("at (async )?(Object\\.)?" + name + " .*program.mjs").test(stack);
        if (!isNamed || /effect|fiber/i.test(stack)) console.error(name, stack);
      }
      await sandbox.close();
      await machine.terminate();`);
    expect(stderr).toBe("");
  });
});

it("a reason to abort is thrown as it is", () => {
  const stderr = stderrOf(
    `const reason = new Error("enough"); const { stack } = reason;
    await run({ ...options, signal: AbortSignal.abort(reason) }).catch((error) => {
      console.error(error === reason, error.stack === stack);
    });`,
  );
  expect(stderr).toBe("true true\n");
});
