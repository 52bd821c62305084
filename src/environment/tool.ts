// The program for environments: it runs where the tests do, in sandboxes too, and needs nothing but Node.js.
import { toolCommand } from "./tool/toolCommand.ts";

process.exit(await toolCommand(process.argv.slice(2)));
