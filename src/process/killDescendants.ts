import { readdirSync } from "node:fs";
import { readProcessStat } from "./processIdentity.ts";

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
};

const descendantsOf = (pid: number): { readonly pid: number; readonly group: number }[] => {
  const children = new Map<number, { readonly pid: number; readonly group: number }[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = readProcessStat(Number(name));
    if (stat === undefined) continue;
    const siblings = children.get(stat.parent) ?? [];
    children.set(stat.parent, [...siblings, { pid: Number(name), group: stat.group }]);
  }
  const below = (parent: number): { readonly pid: number; readonly group: number }[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
};

/**
 * Kills what a process group has started outside of itself, and leaves the group alone. The group stands still
 * meanwhile, so that it starts nothing new. Tells whether there was anything; false where that cannot be seen.
 */
export const killDescendantsOutside = (groupId: number): boolean => {
  if (process.platform !== "linux") return false;
  send(-groupId, "SIGSTOP");
  try {
    const outside = descendantsOf(groupId).filter(({ group }) => group !== groupId);
    for (const { pid } of outside) send(pid, "SIGKILL");
    return outside.length > 0;
  } finally {
    send(-groupId, "SIGCONT");
  }
};
