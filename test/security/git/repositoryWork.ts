import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedStep } from "../../../src/index.ts";
import { git } from "../../helpers/repository/repository.ts";

export const WORK: ScriptedStep = { commit: "Agent's work", files: { "agent.txt": "agent\n" } };

export const write = (cwd: string, files: Record<string, string>): void => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
};
export const commitFiles = (cwd: string, subject: string, files: Record<string, string>): string => {
  write(cwd, files);
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", subject);
  return git(cwd, "rev-parse", "HEAD");
};
