import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { bundle } from "../../helpers/bundle.ts";
import { CLOUDS } from "../../helpers/cloud/clouds.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const MEBIBYTE = 1024 * 1024;
const PROGRAM = join(import.meta.dirname, "cloudProgram.ts");
const NODE_MODULES = join(import.meta.dirname, "../../../node_modules");
const ROUTE = pathToFileURL(join(import.meta.dirname, "../../helpers/cloud/vercelRoute.mjs"));

/** The program of `cloudProgram.ts`, with a place of its own for packages beside it. */
const ownProgram = (): string => bundle(PROGRAM, temporaryDirectory());

/** Runs it; it has to end by itself, and to say nothing on stderr. */
const runProgram = async (program: string, ...args: string[]) => {
  const child = spawn(process.execPath, ["--expose-gc", `--import=${ROUTE}`, program, ...args]);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return JSON.parse(stdout) as Record<string, unknown>;
};

const sha256 = async (path: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
};

const PACKAGES = { e2b: "e2b", vercel: "@vercel/sandbox" } as const;

/**
 * A file, and the limit for the memory that its copies may take. E2B's SDK keeps the text of a whole connection, and a
 * listener that falls behind is sent all the pieces that the relay keeps: up to 56 MiB on a busy machine, but 128 MiB if
 * there were only one connection. Vercel's takes 7 MiB.
 */
const SIZES = {
  e2b: { fileMebibytes: 96, maxGrowthMebibytes: 72 },
  vercel: { fileMebibytes: 32, maxGrowthMebibytes: 16 },
} as const;

describe.each(CLOUDS)("a process that uses $name", { timeout: 240_000 }, ({ name, use }) => {
  const cloud = use();

  it("reports what to install if there is no SDK", async () => {
    const { name: error, message } = await runProgram(ownProgram(), name, "preflight");
    expect(error).toBe("SandboxUnavailableError");
    expect(message).toContain("its SDK could not be loaded");
    expect(message).toContain(`npm install ${PACKAGES[name]}@^`);
  });

  it("reports what to install if the package of that name is another one, or too old", async () => {
    const program = ownProgram();
    const directory = join(dirname(program), "node_modules", PACKAGES[name]);
    mkdirSync(directory, { recursive: true });
    const description = { name: PACKAGES[name], version: "0.1.0", main: "index.js" };
    writeFileSync(join(directory, "package.json"), JSON.stringify(description));
    writeFileSync(join(directory, "index.js"), "exports.Sandbox = class { static create() {} };");
    const { name: error, message } = await runProgram(program, name, "preflight");
    expect(error).toBe("SandboxUnavailableError");
    expect(message).toContain("is not its SDK, or is of another version");
    expect(message).toContain(`npm install ${PACKAGES[name]}@^`);
  });

  it("ends by itself afterwards, is silent, and copies a large file in bounded memory", async () => {
    const { fileMebibytes, maxGrowthMebibytes } = SIZES[name];
    const directory = temporaryDirectory();
    const program = ownProgram();
    symlinkSync(NODE_MODULES, join(dirname(program), "node_modules"));
    const file = join(directory, "in");
    writeFileSync(file, "The beginning");
    truncateSync(file, fileMebibytes * MEBIBYTE);
    const { inGrowth, outGrowth } = await runProgram(program, name, "copy", directory);
    expect(await sha256(join(directory, "out"))).toBe(await sha256(file));
    expect(inGrowth).toBeLessThan(maxGrowthMebibytes);
    expect(outGrowth).toBeLessThan(maxGrowthMebibytes);
    expect(cloud().count()).toBe(0);
  });
});
