import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { findSdk } from "../../../src/agents/cursor/programs/findSdk.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** A directory of global packages that has the SDK. */
const modulesWithSdk = (): string => {
  const modules = temporaryDirectory();
  mkdirSync(join(modules, "@cursor/sdk"), { recursive: true });
  writeFileSync(join(modules, "@cursor/sdk/package.json"), "{}");
  return modules;
};

describe("the directory of Cursor's SDK", () => {
  afterEach(() => void vi.unstubAllEnvs());

  it("is the one that CURSOR_SDK names", () => {
    const named = join(modulesWithSdk(), "@cursor/sdk");
    vi.stubEnv("CURSOR_SDK", named);
    vi.stubEnv("NODE_PATH", modulesWithSdk());
    expect(findSdk()).toBe(named);
  });

  it("is looked for in NODE_PATH if CURSOR_SDK names no package", () => {
    const modules = modulesWithSdk();
    vi.stubEnv("CURSOR_SDK", temporaryDirectory());
    vi.stubEnv("NODE_PATH", [temporaryDirectory(), modules].join(delimiter));
    expect(findSdk()).toBe(join(modules, "@cursor/sdk"));
  });
});
