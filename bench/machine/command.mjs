// The bare minimum that the figures are compared with: commands, one after the other, nothing around them.
import { execFile } from "node:child_process";

const children = new Set();

/** Ends the programs that are running, because the bench ends. */
export const endCommands = () => {
  for (const child of children) child.kill();
};

/** What the program printed on stdout; `onOutput` is called as soon as it prints. */
export const runProgram = (program, args, { onOutput, ...options } = {}) =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, { maxBuffer: Infinity, ...options }, (error, stdout, stderr) => {
      children.delete(child);
      if (error === null) resolve(stdout);
      else reject(Object.assign(error, { stdout, stderr }));
    });
    children.add(child);
    if (onOutput !== undefined) child.stdout.once("data", onOutput);
  });

export const command = (program, ...args) => runProgram(program, args);
