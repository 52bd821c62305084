import type * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { HostFileError, type SandduneError } from "../../errors.ts";
import { hostPath } from "../../process/hostPrograms.ts";
import { runProcess } from "../../process/runProcess.ts";

const IS_DEVICE = ["(", "-type", "b", "-o", "-type", "c", ")"];
const HAS_RIGHTS = ["!", "-type", "l", "(", "-perm", "-4000", "-o", "-perm", "-2000", ")"];

/** Removes devices and the bits with which a program runs with its owner's rights, from copies that no sandbox can write to. */
export const removeRights = (directories: readonly string[]): Effect.Effect<void, SandduneError> =>
  interruptible(async (signal) => {
    const { exitCode, stderr } = await runProcess({
      program: "find",
      args: [
        ...directories,
        ...IS_DEVICE,
        "-delete",
        "-o",
        ...HAS_RIGHTS,
        "-exec",
        "chmod",
        "ug-s",
        "{}",
        "+",
      ],
      cwd: "/",
      env: { PATH: hostPath(), LC_ALL: "C" },
      signal,
    });
    if (exitCode !== 0) throw new HostFileError("EIO", directories[0], { cause: new Error(stderr.trim()) });
  });
