import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import type * as Effect from "effect/Effect";
import { interruptible } from "../../../boundary/interruptible.ts";
import { copyEnvironment, type EnvironmentPart } from "../../../environment/folder/loadEnvironment.ts";
import { MCP_PROGRAM, TOOL_FILES, toolDirectory } from "../../../environment/tool/toolPath.ts";
import type { SandduneError } from "../../../errors.ts";
import { PACKAGE_NAME } from "../../../options/packageName.ts";
import type { IsolatedSandboxHandle } from "../../../sandboxes/contract.ts";

/** The path of a package in a bind-mount sandbox. */
export const MOUNTED_PACKAGE = "/sanddune/environment";

/** The path of a package in an isolated sandbox: beside the worktree, where directories can be created. */
export const copiedPackage = (worktreePath: string): string =>
  posix.join(posix.dirname(worktreePath), "sanddune-environment");

/** Copies a package into an isolated sandbox. */
export const copyPackageIn = (
  handle: IsolatedSandboxHandle,
  packageOnHost: string,
  packagePath: string,
): Effect.Effect<void, SandduneError> => interruptible(() => handle.copyIn(packageOnHost, packagePath));

const FILES = "files";
const PACKAGE = `node_modules/${PACKAGE_NAME}`;

export const inPackage = (path: string) => ({
  tool: `${path}/${PACKAGE}/tool.js`,
  mcpProgram: `${path}/${PACKAGE}/${MCP_PROGRAM}`,
  /** The environment's folder. */
  directory: `${path}/${FILES}`,
});

const MANIFEST = {
  name: PACKAGE_NAME,
  type: "module",
  exports: { "./environment": "./index.js" },
};

/**
 * Writes a package on the host: sanddune's program for environments and, if there are any, the environment's files,
 * so that they find `@missingstudio/sanddune/environment` as an installed package.
 */
export const writePackage = async (path: string, parts: readonly EnvironmentPart[]): Promise<void> => {
  await mkdir(join(path, PACKAGE), { recursive: true });
  await writeFile(join(path, PACKAGE, "package.json"), JSON.stringify(MANIFEST));
  for (const name of TOOL_FILES) await copyFile(join(toolDirectory(), name), join(path, PACKAGE, name));
  for (const part of parts) await copyEnvironment(part, join(path, FILES));
};
