import { execFileSync } from "node:child_process";
import { git, temporaryRepository } from "./repository.ts";

/** Enough files for an overlay to be worth it. */
export const LARGE = 1500;

/** A repository with many small files on `main`, `files/<hundred>/<number>.txt`, which is gone after the test. */
export const largeRepository = (count = LARGE): string => {
  const cwd = temporaryRepository();
  const file = (number: number): string => {
    const content = `file ${number}\n`;
    return `M 100644 inline files/${Math.floor(number / 100)}/${number}.txt\ndata ${content.length}\n${content}\n`;
  };
  const files = Array.from({ length: count }, (_, number) => file(number)).join("");
  const header = `commit refs/heads/main\ncommitter Dev <dev@example.com> 1700000000 +0000\ndata 5\nFiles\nfrom refs/heads/main^0\n`;
  execFileSync("git", ["fast-import", "--quiet"], { cwd, input: header + files });
  git(cwd, "reset", "--quiet", "--hard");
  return cwd;
};
