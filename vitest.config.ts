import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { viteProgramText } from "./scripts/programText.mjs";
import { define } from "./test/setup/define.ts";

/** Suites that start sandboxes, kill processes or build the package: real, and slower. Everything else is `unit`. */
const REAL = [
  "test/{sandboxes,integration,security,faults,cli,package,setup,trajectory}/**/*.test.ts",
  "test/environment/processes/**/*.test.ts",
];

/** They need a cluster: `npm run test:kubernetes`. */
const CLUSTER = "test/kubernetes/**";

export default defineConfig({
  define,
  plugins: [viteProgramText],
  test: {
    reporters: ["default", "./test/setup/summaryReporter.ts"],
    globalSetup: "test/setup/globalSetup.ts",
    // Reading all sources anew for each file would take longer than most files do.
    isolate: false,
    // Tests wait more than they compute: for containers, git, processes.
    maxWorkers: 2 * availableParallelism(),
    slowTestThreshold: 10_000,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Every run in log-to-file mode says where its log is.
    onConsoleLog: (log) => !/^(\[.*\] )?Run log: tail -f /.test(log),
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...REAL, CLUSTER],
          setupFiles: ["test/setup/guardRuntimes.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "real",
          include: REAL,
          setupFiles: ["test/setup/guardRuntimes.ts"],
        },
      },
    ],
  },
});
