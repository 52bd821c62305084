// The bare minimum that the figures are compared with: commands, one after the other, nothing around them.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const execute = promisify(execFile);

export const command = async (program, ...args) => (await execute(program, args)).stdout;
