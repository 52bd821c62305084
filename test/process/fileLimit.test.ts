import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bundle } from "../helpers/bundle.ts";

it("killing a process settles its promise, and nothing else breaks, when no more files can be opened", async () => {
  const bundled = bundle(join(import.meta.dirname, "../../src/process/runProcess.ts"));
  const script = `
    import { openSync } from "node:fs";
    import { runProcess } from ${JSON.stringify(bundled)};
    const controller = new AbortController();
    const running = runProcess({ program: "sleep", args: ["1000"], signal: controller.signal }).catch((reason) => reason);
    await new Promise((resolve) => setTimeout(resolve, 50));
    try { for (;;) openSync("/dev/null", "r"); } catch {}
    controller.abort("stopped");
    console.log(await running);`;
  const printed = execFileSync(
    "sh",
    ["-c", 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script],
    {
      encoding: "utf8",
    },
  );
  expect(printed.trim()).toBe("stopped");
});
