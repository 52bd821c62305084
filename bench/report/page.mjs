// docs/performance.md, made of a complete run.
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { cellsOf, HEADINGS, markdownTable } from "./table.mjs";

const phaseTable = (sessions) => {
  const names = [...new Set(sessions.flatMap(({ phases }) => phases.map(({ phase }) => phase)))];
  const cell = ({ phases }, name) => {
    const found = phases.find(({ phase }) => phase === name);
    return found === undefined ? "" : `${Math.round(found.ms)} ms`;
  };
  return markdownTable(
    ["phase", ...sessions.map(({ name }) => name)],
    names.map((name) => [name, ...sessions.map((session) => cell(session, name))]),
  );
};

const skippedText = (measured) => {
  const skipped = measured.filter(({ problem }) => problem !== undefined);
  const lines = skipped.map(({ name, problem }) => `* ${name}: ${problem}`);
  return lines.length === 0 ? "" : `\nNot measured this time:\n\n${lines.join("\n")}\n`;
};

const peerText = ({ name, problem }) =>
  problem === undefined
    ? `The *peer* is ${name}, the closest one. It is installed from npm for the time of the bench. It has no bubblewrap.`
    : `The *peer* column is empty: ${problem}.`;

const TMPFS = 0x01021994;

/** Where the repositories were: nothing else changes the ratios of large ones as much. */
const placeText = () =>
  statfsSync(tmpdir()).type === TMPFS
    ? "The repositories were in memory (tmpfs), where raw commands write files fastest: on a disk, the ratios of large repositories are lower."
    : "The repositories were on a disk.";

export const performancePage = ({ rows, sessions, measured, peer, names }) => `# Performance

\`npm run bench\` measures what sanddune costs, prints it and writes this page. The numbers are those of one machine in one run, and mean
little elsewhere; what counts is how they compare. ${peerText(peer)}
${placeText()}

${markdownTable(HEADINGS, rows.map(cellsOf))}
${skippedText(measured)}
## What is measured

All contestants run the same agent: a shell script that prints a line, and then calls \`git status\`, \`git diff\`, changes two files,
and calls \`git status\`, \`git add -A\` and \`git commit -a\`. It fails if the worktree is not clean at the start.

* **docker, bubblewrap**: a whole session against the least that does the same job.
  *Raw* is \`git worktree add\`, the sandbox (\`docker run -d --init\`, \`docker exec\`, \`docker rm -f\`; or one \`bwrap\`),
  \`git worktree remove\`, \`git log\`, and \`git merge\` with merge-to-head, as child processes of Node. It hands the repository's \`.git\`
  to the sandbox, checks nothing, and leaves a mess when it is interrupted. *sanddune* is one call of \`run()\`, which also checks that
  the sandbox works, gives it a git directory of its own, verifies what comes out, locks the branch, and keeps a journal and a log.
  The strategy is branch, where no other is named.
* **first byte**: from the call until the agent's first line reaches the caller.
* **first run on a commit**: the current branch gets a commit before each session. In the other rows all sessions start at
  the same commit, and the first one, which does not count, has prepared it.
* **first \`git add -A\`**: timed by the agent itself, against a plain worktree; and how many objects it writes, at worst.
* **disk**: how much more is in use when the agents have started and none has written, in the repository and in the directory for
  temporary files. A run before has prepared whatever runs share. 50 raw checkouts are 50 times one.
* **processes**: those that one session starts, as strace sees them. Git's own children count among all, and not among git's,
  because they depend on its version. Those around the agent's are in the sandbox, and neither the agent's own nor bubblewrap's.
  They are counted in bubblewrap, because a container's are the daemon's.
* **runs at once**: all start at the same time, in one process. Memory is the highest resident size of that process above the
  size before the first run, divided by the number of runs.
* **sandbox.run()**: the same agent in a sandbox of \`createSandbox()\`, which is there already, against the agent's command in a
  container, or in a \`bwrap\`, on a worktree that is there already.
* **10 iterations**: one run whose agent commits ten times. Raw is one container and ten \`docker exec\`.
* **with an environment**: a run with an environment of one test, which is offered to the agent, and run once after its iteration,
  in a sandbox of its own, against the same run without one. In a *strict* one, requests of the agent are answered in a third sandbox.
* **with a trajectory**: a run that is recorded, with one checkpoint, against the same run that is not.
* **runAll()**: 50 sessions in bubblewrap, as many at a time as the machine has cores, against the same 50 calls of
  \`run()\` one after the other; once each.
* **stream, memory, time of 100 MB**: an agent with two secrets that prints 200 MB of lines, against a process that reads the same from a
  pipe and does nothing with it, or against 50 MB. Memory is the orchestrator's highest resident size, as the operating system has
  recorded it, above the size before the run; the worst of all runs.
* **scenario, agent prints 30 MB of short lines**: one \`sanddune scenario run\` whose agent prints 15 million lines of one
  character, against a \`run()\` whose agent prints the same.
* **importing sanddune, \`sanddune --help\`**: against \`node --eval ''\`.
* **40 scenarios**: one \`sanddune scenario run\` over 40 scenarios with one small command each, against the same commands,
  as many at a time, and nothing else.

Times are medians of 3 (100,000 files) to 20 (imports) samples, after a round that warms up. The contestants take turns, and a
different one begins each round.

${
  sessions.length === 0
    ? ""
    : `## Where the time of a run goes

Medians of the phases in the run's journal. \`agent\` is the agent itself, together with \`import commits\`; what is missing from
the total are the checks before the run begins and the tidying up after it.

${phaseTable(sessions)}
`
}
## To repeat it

    npm ci
    npm run bench                            # everything that this machine can run
    npm run bench -- bubblewrap-20 disk      # some rows; this page is left alone
    npm run bench -- docker --rounds 3       # all whose names begin so, with fewer samples
    npm run bench -- --no-peer               # nothing is installed
    npm run bench -- --check                 # fails if a row is more than 25 % worse than in bench/ratios.json

The benchmarks are ${names.map((name) => `\`${name}\``).join(", ")}.

\`bench/ratios.json\` holds the ratio, or the count, of each row, never its time, because machines differ. A complete run
writes it; \`--update\` writes it for single rows. \`--check\` measures a row that is worse a second time before it fails, and runs every night.

The repositories are made in the directory for temporary files, which needs 10 GB. Where the disk is slow, \`TMPDIR=/dev/shm\` saves minutes, and is
the stricter comparison: what both sides have in common gets cheaper.

Docker needs a running daemon and an image with git in it: \`SANDDUNE_BENCH_IMAGE\`, or the image of the tests, which
\`scripts/runtimes/start\` makes. Processes are counted with strace.
`;
