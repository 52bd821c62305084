// Loaded before a program: sends it a signal just before it changes the file system for the nth time below a directory.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [signal, nth, directory] = process.env["SIGNAL_AT_CHANGE"].split(" ");
let changes = 0;
for (const name of ["mkdirSync", "writeFileSync", "copyFileSync", "renameSync", "rmSync"]) {
  const change = fs[name];
  fs[name] = (path, ...rest) => {
    if (String(path).startsWith(directory) && ++changes === Number(nth)) process.kill(process.pid, signal);
    return change(path, ...rest);
  };
}
syncBuiltinESMExports();
