import { runAtBoundary } from "../boundary/boundary.ts";
import { PrerequisiteError } from "../errors.ts";
import { gitText } from "../git/git.ts";
import { type Finding, failed, note, ok } from "./finding.ts";
import type { Situation } from "./situation.ts";

const INSTALL_GIT =
  "sudo apt-get install git (Debian, Ubuntu), sudo dnf install git (Fedora), brew install git (macOS)";
const MINIMUM_NODE = [20, 19] as const;

const askGit = (cwd: string, args: readonly string[]): Promise<string> =>
  runAtBoundary(gitText(args, { cwd, expectedExitCodes: [1] }));

export const checkGit = async ({ cwd, problem }: Situation): Promise<Finding> => {
  if (problem instanceof PrerequisiteError) {
    return failed("git", problem.problem, `${problem.hint} ${INSTALL_GIT}`);
  }
  const version = (await askGit(cwd, ["version"])).replace(/^git version /, "");
  return ok("git", version);
};

/** Commits of an agent are made in the user's name. */
export const checkIdentity = async ({ cwd, problem }: Situation): Promise<Finding | undefined> => {
  if (problem instanceof PrerequisiteError) return undefined;
  const [name, email] = await Promise.all(
    ["user.name", "user.email"].map((key) => askGit(cwd, ["config", "--get", key])),
  );
  if (name && email) return ok("git identity", `${name} <${email}>`);
  return note(
    "git identity",
    "user.name or user.email is not set: the agent's commits will be by “sanddune agent”",
    'git config --global user.name "Your Name" && git config --global user.email you@example.com',
  );
};

export const checkNode = async (): Promise<Finding> => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNewEnough = major > MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor >= MINIMUM_NODE[1]);
  return isNewEnough
    ? ok("Node.js", process.versions.node)
    : failed(
        "Node.js",
        `${process.versions.node} is too old`,
        `Install Node.js ${MINIMUM_NODE.join(".")} or newer: https://nodejs.org/en/download`,
      );
};
