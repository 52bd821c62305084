import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGENTS, TEST_IMAGE } from "./runtimes.ts";

/** Of npm's files, those that only people read. */
const MANUALS = ["docs", "man"];

const npm = (...args: string[]): string =>
  execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** This machine's certificates, if npm needs any of its own here. */
const certificates = (): string => {
  const path = npm("config", "get", "cafile");
  return path === "null" || path === "" ? "" : readFileSync(path, "utf8");
};

/** As in the official image of Node, the user 1000 is there already. */
const DOCKERFILE = `FROM ${TEST_IMAGE}
COPY local /usr/local
ENV NODE_EXTRA_CA_CERTS=/usr/local/share/test-certificates
RUN useradd --uid 1000 --create-home node
`;

/**
 * Builds an image with Node 22 and npm, of what this machine has: no image registry is needed. Packages come from
 * where this machine gets its own.
 */
export const buildNodeImage = (engine: "docker" | "podman", name: string): void => {
  const directory = mkdtempSync(join(tmpdir(), "sanddune-node-image-"));
  try {
    const local = join(directory, "local");
    for (const name of ["bin", "etc", "share"]) mkdirSync(join(local, name), { recursive: true });
    cpSync(join(AGENTS, "node/node_modules/node/bin/node"), join(local, "bin/node"));
    const source = join(npm("root", "--global"), "npm");
    const manuals = MANUALS.map((name) => join(source, name));
    cpSync(source, join(local, "lib/node_modules/npm"), {
      recursive: true,
      filter: (path) => !manuals.includes(path),
    });
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(local, "bin/npm"));
    const found = certificates();
    const settings = [
      `registry=${npm("config", "get", "registry")}`,
      ...(found === "" ? [] : ["cafile=/usr/local/share/test-certificates"]),
    ];
    writeFileSync(join(local, "etc/npmrc"), `${settings.join("\n")}\n`);
    writeFileSync(join(local, "share/test-certificates"), found);
    writeFileSync(join(directory, "Dockerfile"), DOCKERFILE);
    execFileSync(engine, ["build", "--quiet", "--network", "none", "--tag", name, directory], {
      stdio: ["ignore", "ignore", "pipe"],
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
