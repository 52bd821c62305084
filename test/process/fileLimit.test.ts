import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bundle } from "../helpers/bundle.ts";

const SOURCES = join(import.meta.dirname, "../../src/process");

/** What a program prints that can open few files. */
const printedBy = (script: string): string =>
  execFileSync(
    "sh",
    ["-c", 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script],
    { encoding: "utf8" },
  ).trim();

const OPEN_ALL = `try { for (;;) openSync("/dev/null", "r"); } catch {}`;

it("killing a process settles its promise without open file descriptors", () => {
  const bundled = bundle(join(SOURCES, "runProcess.ts"));
  const printed = printedBy(`
    import { openSync } from "node:fs";
    import { runProcess } from ${JSON.stringify(bundled)};
    const controller = new AbortController();
    const running = runProcess({ program: "sleep", args: ["1000"], signal: controller.signal }).catch((reason) => reason);
    await new Promise((resolve) => setTimeout(resolve, 50));
    ${OPEN_ALL}
    controller.abort("stopped");
    console.log(await running);`);
  expect(printed).toBe("stopped");
});

it("so does killing processes that have left their group", () => {
  const printed = printedBy(`
    import { openSync } from "node:fs";
    import { spawn } from "node:child_process";
    import { killMarked } from ${JSON.stringify(bundle(join(SOURCES, "kill/killMarked.ts")))};
    import { killDescendantsOutside } from ${JSON.stringify(bundle(join(SOURCES, "kill/killDescendants.ts")))};
    const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    process.on("exit", () => child.kill("SIGKILL"));
    ${OPEN_ALL}
    await killMarked({ name: "SANDDUNE_TEST", value: "none" });
    console.log(killDescendantsOutside(child.pid));
    process.exit();`);
  expect(printed).toBe("false");
});
