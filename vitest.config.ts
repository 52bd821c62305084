import { defineConfig } from "vitest/config";

/** Suites that start sandboxes, kill processes or build the package: real, and slower. Everything else is `unit`. */
const REAL = ["test/{sandboxes,integration,security,faults,cli,package}/**/*.test.ts"];

/** They need a cluster: `npm run test:kubernetes`. */
const CLUSTER = "test/kubernetes/**";

export default defineConfig({
  test: {
    reporters: ["default", "./test/helpers/closingReporter.ts"],
    // Tests wait more than they compute: for containers, git, processes.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Every run in log-to-file mode says where its log is.
    onConsoleLog: (log) => !/^(\[.*\] )?Run log: tail -f /.test(log),
    projects: [
      { extends: true, test: { name: "unit", include: ["test/**/*.test.ts"], exclude: [...REAL, CLUSTER] } },
      {
        extends: true,
        test: { name: "real", include: REAL, setupFiles: ["test/helpers/attacksNeedBubblewrap.ts"] },
      },
    ],
  },
});
