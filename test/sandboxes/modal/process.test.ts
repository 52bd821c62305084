import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { bundle } from "../../helpers/bundle.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { modalServer } from "./scene.ts";

const MEBIBYTE = 1024 * 1024;
const LARGE_MEBIBYTES = 64;
/** Half of the file. Much more than what is under way at a time, which is 5. */
const MAX_GROWTH_MEBIBYTES = 32;
const PROGRAM = join(import.meta.dirname, "program.ts");
const NODE_MODULES = join(import.meta.dirname, "../../../node_modules");

/** Runs the program of `modalProgram.ts`; it has to end by itself, and to say nothing on stderr. */
const runProgram = async (program: string, args: string[], env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, ["--expose-gc", program, ...args], {
    env: { ...process.env, ...env },
  });
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

/** A program whose `node_modules` holds, as `modal`, what is written there. */
const programWith = (packages: Readonly<Record<string, string>> | undefined): string => {
  const program = bundle(PROGRAM, temporaryDirectory());
  const directory = join(dirname(program), "node_modules", "modal");
  if (packages !== undefined) {
    mkdirSync(directory, { recursive: true });
    for (const [name, content] of Object.entries(packages)) writeFileSync(join(directory, name), content);
  }
  return program;
};

describe("the preflight of modal() says what to install", () => {
  const SAYS = "npm install modal@^0.11.1";

  it("if there is no SDK", async () => {
    const { name, message } = await runProgram(programWith(undefined), ["preflight"]);
    expect(name).toBe("SandboxUnavailableError");
    expect(message).toContain("its SDK could not be loaded");
    expect(message).toContain(SAYS);
  });

  it("if the package of that name is the one that makes windows in a browser", async () => {
    const program = programWith({
      "package.json": JSON.stringify({ name: "modal", version: "1.2.0", main: "index.js" }),
      "index.js": "module.exports = function Modal() {};",
    });
    const { name, message } = await runProgram(program, ["preflight"]);
    expect(name).toBe("SandboxUnavailableError");
    expect(message).toContain("the installed package modal is not its SDK");
    expect(message).toContain(SAYS);
  });
});

describe("a process that uses modal()", () => {
  it("ends by itself afterwards, is silent, and copies a large file in bounded memory", async () => {
    const server = await modalServer();
    const directory = temporaryDirectory();
    const program = programWith(undefined);
    symlinkSync(NODE_MODULES, join(dirname(program), "node_modules"));
    const file = join(directory, "in");
    writeFileSync(file, "The beginning");
    truncateSync(file, LARGE_MEBIBYTES * MEBIBYTE);
    const { inGrowth, outGrowth } = await runProgram(program, ["copy", directory], server.env);
    expect(await sha256(join(directory, "out"))).toBe(await sha256(file));
    expect(inGrowth).toBeLessThan(MAX_GROWTH_MEBIBYTES);
    expect(outGrowth).toBeLessThan(MAX_GROWTH_MEBIBYTES);
    expect(server.running()).toEqual([]);
  }, 180_000);
});
