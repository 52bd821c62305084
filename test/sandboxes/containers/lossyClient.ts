import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** A client of docker that loses the answer of a commit and removes no image, until the returned function is called. */
export const useLossyClient = (): (() => void) => {
  const directory = temporaryDirectory();
  const real = execFileSync("sh", ["-c", "command -v docker"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh
if [ -e ${directory}/lossy ]; then
  case "$*" in
    commit*) ${real} "$@" >/dev/null; echo "unexpected EOF" >&2; exit 1 ;;
    "image rm"*) echo "unexpected EOF" >&2; exit 1 ;;
  esac
fi
exec ${real} "$@"
`;
  writeFileSync(join(directory, "docker"), script, { mode: 0o755 });
  writeFileSync(join(directory, "lossy"), "");
  vi.stubEnv("PATH", `${directory}${delimiter}${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return () => rmSync(join(directory, "lossy"));
};
