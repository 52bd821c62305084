import { type HostProcess, hostSystem } from "../host/system.ts";

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
};

/** The children of some processes, their children, and so on. Not recursive: an agent can create a chain of thousands. */
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
    // Pids that are reused during the listing can form a circle.
    children.delete(parent);
  }
  return found;
};

/**
 * Kills the descendants of a process group that are outside the group. Meanwhile the group is stopped, so that it starts
 * nothing new. Returns whether there were any. Never throws.
 */
export const killDescendantsOutside = (groupId: number): boolean => {
  send(-groupId, "SIGSTOP");
  try {
    const outside = descendantsOf([groupId]).filter(({ group }) => group !== groupId);
    for (const { pid } of outside) send(pid, "SIGKILL");
    return outside.length > 0;
  } catch {
    // They cannot be listed, for example because of too many open files. The group itself is killed anyway.
    return false;
  } finally {
    send(-groupId, "SIGCONT");
  }
};
