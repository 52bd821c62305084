import { refuseUnsafeMount } from "../mounts/unsafeMounts.ts";
import { AGENT_PROGRAMS, findUserPrograms, type UserPrograms } from "./userPrograms.ts";

/** The user's programs that a sandbox sees: those of the option, or agents that expose little of the host. */
export const programsFor = async (
  { programs, path }: { readonly programs?: readonly string[]; readonly path?: string },
  repositoryPath: string,
): Promise<UserPrograms> => {
  const wanted = programs ?? (path === undefined ? AGENT_PROGRAMS : []);
  const links = new Map<string, string>();
  const paths = new Set<string>();
  for (const found of wanted.map((name) => findUserPrograms([name]))) {
    try {
      for (const hostPath of found.paths) {
        await refuseUnsafeMount("programs", { hostPath, readOnly: true }, repositoryPath);
      }
    } catch (error) {
      if (programs !== undefined) throw error;
      continue;
    }
    for (const [name, target] of found.links) links.set(name, target);
    for (const shown of found.paths) paths.add(shown);
  }
  return { links, paths: [...paths] };
};
