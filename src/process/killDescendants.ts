import { type HostProcess, hostSystem } from "./host/system.ts";

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
};

/** The children of some processes, their children, and so on. */
export const descendantsOf = (pids: readonly number[]): HostProcess[] => {
  const children = new Map<number, HostProcess[]>();
  for (const found of hostSystem().processes()) {
    children.set(found.parent, [...(children.get(found.parent) ?? []), found]);
  }
  const below = (parent: number): HostProcess[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return pids.flatMap(below);
};

/**
 * Kills what a process group has started outside of itself, and leaves the group alone. The group stands still
 * meanwhile, so that it starts nothing new. Returns whether it found anything.
 */
export const killDescendantsOutside = (groupId: number): boolean => {
  send(-groupId, "SIGSTOP");
  try {
    const outside = descendantsOf([groupId]).filter(({ group }) => group !== groupId);
    for (const { pid } of outside) send(pid, "SIGKILL");
    return outside.length > 0;
  } finally {
    send(-groupId, "SIGCONT");
  }
};
