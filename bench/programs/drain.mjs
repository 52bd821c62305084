// Reads so many megabytes of lines from the same commands, and does nothing with them; says, as JSON, how long it took.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { timed } from "../machine/measure.mjs";
import { floodCommand } from "./floodCommand.mjs";

const durationMs = await timed(async () => {
  const child = spawn("sh", ["-c", floodCommand(process.argv[2])], { stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.resume();
  await once(child, "close");
});
console.log(JSON.stringify({ durationMs }));
