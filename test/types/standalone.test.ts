// What sandboxes without a repository promise by their types. The functions are never called: `tsc` is the judge, and an
// error that does not come is an error itself.
import { expect, expectTypeOf, it } from "vitest";
import { type CommandResult, createStandaloneSandbox, type StandaloneSandbox } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { noSandbox } from "../../src/sandboxes/no-sandbox.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";

declare const sandbox: StandaloneSandbox;

it("a result has its types by name and by position", () => {
  const cases = [
    async () => {
      const { exitCode, stdout, stderr, durationMs } = await sandbox.run("ls");
      expectTypeOf([exitCode, durationMs]).toEqualTypeOf<number[]>();
      expectTypeOf([stdout, stderr]).toEqualTypeOf<string[]>();
    },
    async () => {
      const [exitCode, stdout, stderr] = await sandbox.run("ls");
      expectTypeOf(exitCode).toEqualTypeOf<number>();
      expectTypeOf(stdout).toEqualTypeOf<string>();
      expectTypeOf(stderr).toEqualTypeOf<string>();
    },
    (result: CommandResult) => {
      // @ts-expect-error a result is not changed
      result.exitCode = 0;
    },
  ];
  expect(cases).toHaveLength(3);
});

it("every sandbox provider will do, but a boundary there has to be", () => {
  const cases = [
    async () => expectTypeOf(await createStandaloneSandbox(docker())).toEqualTypeOf<StandaloneSandbox>(),
    () => createStandaloneSandbox(bubblewrap(), { env: { A: undefined, B: () => "b" } }),
    () => createStandaloneSandbox(testIsolated(), { usesSudo: true, signal: new AbortController().signal }),
    // @ts-expect-error that is none
    () => createStandaloneSandbox(noSandbox()),
    // @ts-expect-error there is no repository
    () => createStandaloneSandbox(docker(), { branch: "b" }),
    // @ts-expect-error which one?
    () => createStandaloneSandbox(),
  ];
  expect(cases).toHaveLength(6);
});

it("files are text or bytes", () => {
  const cases = [
    () => sandbox.writeFile("a", "text"),
    () => sandbox.writeFile("a", new Uint8Array()),
    // @ts-expect-error neither
    () => sandbox.writeFile("a", { text: "" }),
    async () => expectTypeOf(await sandbox.readFile("a")).toEqualTypeOf<string>(),
    async () => expectTypeOf(await sandbox.readFileBytes("a")).toEqualTypeOf<Uint8Array>(),
    // @ts-expect-error a value is known, or it is none
    () => sandbox.run("true", { env: { A: () => "a" } }),
  ];
  expect(cases).toHaveLength(6);
});

it("a sandbox ends with the block that holds it", () => {
  expectTypeOf<StandaloneSandbox>().toExtend<AsyncDisposable>();
  const use = async () => {
    await using machine = await createStandaloneSandbox(docker());
    return machine.directory;
  };
  expect(use).toBeTypeOf("function");
});
