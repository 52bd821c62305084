import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { orUndefined } from "../../tools/orUndefined.ts";
import type { PreflightOptions } from "../contract.ts";
import type { BubblewrapOptions } from "./options.ts";
import { rootDirectories } from "./preflight.ts";
import { programsFor } from "./programsFor.ts";

/** Package managers change these whenever they install or upgrade something. */
const WITNESSES = [
  ...["/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/local/bin", "/usr/local/lib"],
  ...["/var/lib/dpkg/status", "/var/lib/rpm", "/var/lib/pacman/local", "/lib/apk/db/installed"],
];

const stampOf = (path: string): string | undefined =>
  orUndefined(() => {
    const { dev, ino, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    return [dev, ino, mtimeNs, ctimeNs].join(":");
  });

/** Identifies the programs that a sandbox sees: those of the host, and those of the options. */
export const programsBase = async (
  settings: BubblewrapOptions,
  { repositoryPath }: PreflightOptions,
): Promise<string> => {
  const { links, paths } = await programsFor(settings, repositoryPath);
  const { readOnlyPaths = [], path = "" } = settings;
  const facts = {
    system: orUndefined(() => readFileSync("/etc/os-release", "utf8")),
    roots: rootDirectories(),
    witnesses: WITNESSES.map(stampOf),
    links: [...links],
    shown: [...paths, ...readOnlyPaths].map((shown) => [shown, stampOf(shown)]),
    path,
  };
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
};
