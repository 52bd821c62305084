import { describe, expect, it } from "vitest";
import { useTool } from "../builtTool.ts";
import { open, openDefinition } from "../serving.ts";

useTool();

describe("a definition", () => {
  it("may have a name that objects have anyway", async () => {
    const { tests } = await openDefinition(`tests: { constructor: () => {}, toString: () => {} }`);
    expect(await tests.run("constructor")).toMatchObject({ passed: 1, total: 1 });
    await expect(tests.run("valueOf")).rejects.toMatchObject({ status: 404 });
  });

  it("is told of if it does not load, with what is wrong where", async () => {
    const failure = (text: string) => expect(open({ "environment.mjs": text })).rejects;
    await failure("export default {").toThrow(
      /environment.mjs does not load: .*environment.mjs:1[\s\S]*SyntaxError/,
    );
    await failure(`\nthrow new Error("no luck");`).toThrow(/no luck\n.*environment.mjs:2:7/);
    await failure(`import "./missing.mjs";`).toThrow(/Cannot find module '.*missing.mjs'/);
    await failure("export const tests = {};").toThrow(
      "environment.mjs has no default export. Write: export default defineEnvironment(",
    );
    await failure("export default { tests: {} };").toThrow(
      "The default export of environment.mjs has `tests`, which has no test.",
    );
    await failure("process.exit(3);").toThrow("its process ended with exit code 3");
    await failure(`const d = { tests: { a() {} }, files: ["environment.mjs"] }; export default d;`).toThrow(
      "environment.mjs: Write `files` as a plain list of strings",
    );
  });

  it("of TypeScript says which Node it needs, where that is not there", async () => {
    if (Reflect.get(process.features, "typescript")) return;
    await expect(open({ "environment.ts": "export default { tests: { a() {} } };" })).rejects.toThrow(
      `environment.ts needs Node.js 22.18 or newer where the tests run, and this is ${process.version}. Install a newer version, or write environment.mjs.`,
    );
  });
});
