import { readFile } from "node:fs/promises";
import { hostSystem } from "../process/host/system.ts";
import { type Finding, note, ok } from "./finding.ts";

const TITLE = "user namespaces";

/** The kernel settings that can forbid user namespaces, with a value that allows them. */
const SETTINGS = [
  { name: "user.max_user_namespaces", isFine: (value: number) => value > 0, fine: 15000 },
  { name: "kernel.unprivileged_userns_clone", isFine: (value: number) => value === 1, fine: 1 },
  {
    name: "kernel.apparmor_restrict_unprivileged_userns",
    isFine: (value: number) => value === 0,
    fine: 0,
  },
] as const;

const read = (name: string): Promise<string | undefined> =>
  readFile(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").catch(() => undefined);

/** Bubblewrap and rootless Podman need them. A note only: one of these may work in spite of a setting. */
export const checkUserNamespaces = async (): Promise<Finding | undefined> => {
  if (hostSystem().name !== "linux") return undefined;
  if (process.getuid?.() === 0) return ok(TITLE, "root needs no permission for them");
  for (const { name, isFine, fine } of SETTINGS) {
    const value = await read(name);
    if (value !== undefined && !isFine(Number(value))) {
      return note(
        TITLE,
        `${name} is ${value.trim()}: bubblewrap and rootless podman may not be allowed to make them`,
        `sudo sysctl -w ${name}=${fine}`,
      );
    }
  }
  return ok(TITLE, "allowed");
};
