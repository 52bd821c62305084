import { expect, it } from "vitest";
import type { Dependencies } from "../../../src/init/dependencies/dependencies.ts";
import { packageManagerLines, setupStatement } from "../../../src/init/dependencies/setup.ts";

const dependencies = (fields: Partial<Dependencies>): Dependencies => ({
  packageManager: "npm",
  version: undefined,
  hasLockFile: true,
  directories: ["node_modules"],
  ...fields,
});

/** The value of the statement, without its comment. */
const setupOf = (...args: Parameters<typeof setupStatement>): unknown => {
  const [, value = ""] = /const setup = ([^;]*?)(?: as const)?;$/.exec(setupStatement(...args)) ?? [];
  return new Function(`return ${value}`)();
};

const installing = (command: string) => ({
  hooks: { sandbox: { onSandboxReady: [{ command, timeoutMs: 600_000 }] } },
});

it.each([
  ["npm", "npm ci --no-audit --no-fund", "npm install --no-package-lock --no-audit --no-fund"],
  ["pnpm", "pnpm install --frozen-lockfile", "pnpm install --no-lockfile"],
  ["yarnClassic", "yarn install --frozen-lockfile", "yarn install --no-lockfile"],
  ["yarn", "yarn install --immutable", "yarn install --no-immutable"],
  ["bun", "bun install --frozen-lockfile", "bun install --no-save"],
] as const)(
  "a container installs the packages itself, in ten minutes at most: %s",
  (packageManager, locked, other) => {
    for (const sandbox of ["docker", "podman"] as const) {
      expect(setupOf(sandbox, dependencies({ packageManager }))).toEqual(installing(locked));
      const unlocked = dependencies({ packageManager, hasLockFile: false });
      expect(setupOf(sandbox, unlocked)).toEqual(installing(other));
    }
  },
);

it("bubblewrap gets a copy of those of the host: it has its platform, and may have no network", () => {
  expect(setupOf("bubblewrap", dependencies({ directories: ["node_modules", "a/node_modules"] }))).toEqual({
    copyToWorktree: ["node_modules", "a/node_modules"],
    timeouts: { copyToWorktreeMs: 600_000 },
  });
});

it("bubblewrap installs what Plug'n'Play has, since there is nothing to copy", () => {
  const found = dependencies({ packageManager: "yarn", directories: [] });
  expect(setupOf("bubblewrap", found)).toEqual(installing("yarn install --immutable"));
});

it("a project without package.json has nothing to set up, and sees how it would", () => {
  for (const sandbox of ["docker", "bubblewrap"] as const) {
    expect(setupOf(sandbox, undefined)).toEqual({});
    expect(setupStatement(sandbox, undefined)).toContain("// hooks: { sandbox: { onSandboxReady:");
  }
});

it.each([
  ["npm", undefined, []],
  ["pnpm", "10.1.0", ["RUN npm install --global pnpm@10.1.0"]],
  ["yarn", "4.9.1", ["RUN npm install --global --force @yarnpkg/cli-dist@4.9.1"]],
  ["bun", undefined, ["RUN npm install --global bun@1"]],
] as const)(
  "the image gets the package manager in the version of the project: %s %s",
  (packageManager, version, lines) => {
    expect(packageManagerLines(dependencies({ packageManager, version }))).toEqual(lines);
  },
);
