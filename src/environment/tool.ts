// The program for environments: it runs where the tests do, in sandboxes too, and needs nothing but Node.js.
import { toolCommand } from "./tool/toolCommand.ts";

// Node would let whoever sends it into this process, by its debugger: the work that is tested is somebody who could.
process.on("SIGUSR1", () => {});
process.exit(await toolCommand(process.argv.slice(2)));
