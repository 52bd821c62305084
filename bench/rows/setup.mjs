// A run whose hook has a kept set-up, against a run without hooks.
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../dist/index.js";
import { AGENT } from "../contestants/agent.mjs";
import { ownAgent, ownLogging, ownSandbox } from "../contestants/own.mjs";
import { takeTurns } from "../machine/measure.mjs";
import { PROBLEMS } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { atMostTimes, timeRow } from "../report/row.mjs";

const FILES = 20;
const ROUNDS = 10;
const INSTALLED = 5000;
const MAX_RATIO = 2;

/** As an installer: many small files in many directories. */
const INSTALL = `for package in $(seq ${INSTALLED / 50}); do
  mkdir -p node_modules/$package
  for file in $(seq 50); do echo "module.exports = $file" > node_modules/$package/$file.js; done
done`;

const HOOKS = {
  sandbox: { onSandboxReady: [{ command: INSTALL, timeoutMs: 600_000, cache: { key: ["agent.sh"] } }] },
};

const ignoreInstalled = (repository) => {
  appendFileSync(join(repository, ".gitignore"), "node_modules/\n");
  execFileSync("git", ["commit", "--quiet", "-a", "-m", "Ignore"], { cwd: repository });
};

const contestant = ({ kind, repository, name, hooks, expected }) => ({
  perform: async (round) => {
    const result = await run({
      agent: ownAgent([...(expected ? ["test", "-e", "node_modules/100/50.js", "&&"] : []), ...AGENT]),
      sandbox: ownSandbox(kind),
      cwd: repository,
      branchStrategy: { type: "branch", branch: `${name}/${round}` },
      prompt: "Work",
      hooks,
      logging: ownLogging(),
    });
    if (result.commits.length !== 1 || result.warnings.length > 0)
      throw new Error(`the run has made ${result.commits.length} commits: ${result.warnings.join(" ")}`);
  },
});

/** The first round, which does not count, fills the kept set-up. */
const measure = (kind, { rounds }) =>
  withScratchDirectory(async (directory) => {
    const repository = await makeRepository(directory, FILES);
    ignoreInstalled(repository);
    const common = { kind, repository };
    const samples = await takeTurns(
      {
        raw: contestant({ ...common, name: "bare", hooks: {} }),
        own: contestant({ ...common, name: "kept", hooks: HOOKS, expected: true }),
      },
      rounds(ROUNDS),
    );
    return {
      rows: [
        timeRow({
          ...{ id: `setup-${kind}/total`, name: `${kind}, with a kept set-up of 5,000 files`, samples },
          ...{ target: atMostTimes(MAX_RATIO, " of a run without hooks"), against: "without hooks" },
        }),
      ],
    };
  });

export const setupBenchmarks = ["docker", "bubblewrap"].map((kind) => ({
  name: `setup-${kind}`,
  problem: PROBLEMS[kind],
  measure: (context) => measure(kind, context),
}));
