/** Asks for an interactive session in a sandbox without a terminal, and prints what comes of it. Argv: the repository. */
import { command, createIsolatedSandboxProvider, interactive } from "../../../src/index.ts";

const calls: string[] = [];
const sandbox = createIsolatedSandboxProvider({
  name: "deaf",
  capabilities: { terminal: false },
  preflight: async () => void calls.push("preflight"),
  create: async () => {
    calls.push("create");
    throw new Error("never");
  },
});
const agent = command("true", { interactive: "true" });
const outcome = await interactive({ agent, sandbox, cwd: process.argv[2] ?? "" }).then(
  () => "resolved",
  (error: Error) => `${error.name}: ${error.message}`,
);
console.log(JSON.stringify({ outcome, calls }));
