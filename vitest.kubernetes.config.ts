import { defineConfig } from "vitest/config";
import { viteProgramText } from "./scripts/programText.mjs";
import { define } from "./test/setup/define.ts";

/** The tests that need a cluster. One file at a time: some of them kill a node. */
export default defineConfig({
  define,
  plugins: [viteProgramText],
  test: {
    include: ["test/kubernetes/**/*.test.ts"],
    globalSetup: "test/setup/globalSetup.ts",
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
    onConsoleLog: (log) => !/^(\[.*\] )?Run log: tail -f /.test(log),
  },
});
