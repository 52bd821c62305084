/** A loose ref is a file, and git appends `.lock` to its name while it writes it. */
const MAX_COMPONENT_BYTES = 240;
const MAX_BYTES = 1000;

/** Why a branch cannot have this name, or nothing if it can: git's rules for refs, and rules for command lines. */
export const branchNameProblem = (branch: string): string | undefined => {
  if (branch === "") return "it is empty";
  if (Buffer.byteLength(branch) > MAX_BYTES) return "it is too long";
  if (branch === "HEAD") return "HEAD is reserved";
  if (branch.startsWith("-")) return "it begins with a dash";
  if (branch === "@") return "@ means HEAD";
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(branch)) {
    return "it contains a space, a control character or one of ~ ^ : ? * [ \\";
  }
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(branch)) return "it looks like a commit";
  if (branch.includes("..")) return "it contains two dots";
  if (branch.includes("@{")) return "it contains @{";
  if (branch.startsWith("refs/")) return "name the branch without refs/";
  if (branch.startsWith("/") || branch.endsWith("/") || branch.includes("//"))
    return "it has an empty component";
  if (branch.endsWith(".")) return "it ends with a dot";
  if (Buffer.from(branch).toString() !== branch) return "it is not well-formed Unicode";
  for (const component of branch.split("/")) {
    if (component.startsWith(".")) return "a component begins with a dot";
    if (component.endsWith(".lock")) return "a component ends with .lock";
    if (Buffer.byteLength(component) > MAX_COMPONENT_BYTES) return "a component is too long";
  }
  return undefined;
};
