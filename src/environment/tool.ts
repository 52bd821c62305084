// The test tool: it runs where the tests run, in sandboxes too, and needs nothing but Node.js.
import { toolCommand } from "./tool/toolCommand.ts";

// On this signal Node would open its debugger, and the tested code could send it.
process.on("SIGUSR1", () => {});
process.exit(await toolCommand(process.argv.slice(2)));
