// The product that is graded: it fetches a greeting, and keeps it in a project.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [subcommand, projectRoot, ...flags] = process.argv.slice(2);
const baseUrl = flags.find((flag) => flag.startsWith("--base-url="))?.slice("--base-url=".length);

if (subcommand === "install" || subcommand === "sync") {
  const response = await fetch(`${baseUrl}/greeting.txt`);
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  const greeting = await response.text();
  writeFileSync(
    join(projectRoot, "greeting.txt"),
    flags.includes("--loud") ? greeting.toUpperCase() : greeting,
  );
} else {
  console.error(`greeter: there is no subcommand ${subcommand}`);
  process.exitCode = 2;
}
