import { type HostProcess, hostSystem } from "../host/system.ts";

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
};

/** The children of some processes, their children, and so on. An agent can have made a chain of thousands. */
export const descendantsOf = (pids: readonly number[]): HostProcess[] => {
  const children = new Map<number, HostProcess[]>();
  for (const each of hostSystem().processes()) {
    const siblings = children.get(each.parent);
    if (siblings === undefined) children.set(each.parent, [each]);
    else siblings.push(each);
  }
  const found: HostProcess[] = [];
  const open = [...pids];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const child of children.get(parent) ?? []) {
      found.push(child);
      open.push(child.pid);
    }
    // Pids that were given anew while they were listed can make a circle.
    children.delete(parent);
  }
  return found;
};

/**
 * Kills what a process group has started outside of itself, and leaves the group alone. The group stands still
 * meanwhile, so that it starts nothing new. Returns whether it found anything. Never throws.
 */
export const killDescendantsOutside = (groupId: number): boolean => {
  send(-groupId, "SIGSTOP");
  try {
    const outside = descendantsOf([groupId]).filter(({ group }) => group !== groupId);
    for (const { pid } of outside) send(pid, "SIGKILL");
    return outside.length > 0;
  } catch {
    // Too many open files, say: they cannot be listed. The group itself is killed all the same.
    return false;
  } finally {
    send(-groupId, "SIGCONT");
  }
};
