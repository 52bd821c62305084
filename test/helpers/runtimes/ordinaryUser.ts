import { execFileSync } from "node:child_process";

/** Of nobody's: what is closed is closed to it. */
const UID = 65534;

/** Does something for which permissions matter: root, who may do everything, becomes somebody else for as long. */
export const asOrdinaryUser = async (directory: string, work: () => Promise<void>): Promise<void> => {
  if (process.getuid?.() !== 0) return work();
  execFileSync("chown", ["-R", "-h", String(UID), directory]);
  const home = process.env["HOME"];
  process.env["HOME"] = directory;
  process.seteuid?.(UID);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
    process.env["HOME"] = home;
  }
};
