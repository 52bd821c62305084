// The figures as text: for the terminal, and for docs/performance.md.
import { quartiles } from "./measure.mjs";

const cellsOf = ({ name, raw, own, figure, target, isMet }) => [
  name,
  raw,
  own,
  figure,
  target,
  isMet ? "yes" : "no",
];

const HEADINGS = ["", "compared with", "sanddune", "difference", "target", "met"];

const tableOf = (headings, rows) => {
  const lines = [headings, headings.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
};

/** The same table, with columns that line up. */
export const terminalTable = (rows) => {
  const lines = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((cells) => cells[column].length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};

const range = (values) => quartiles(values).map(Math.round).join("–");

/** How far the samples lie apart, for whoever wants to know how much to believe. */
export const spreadLines = (rows) =>
  rows
    .filter(({ samples }) => samples !== undefined)
    .map(
      ({ name, samples }) =>
        `${name}: middle half of the samples, raw ${range(samples.raw)} ms, sanddune ${range(samples.own)} ms`,
    );

const phaseTable = (sessions) => {
  const names = [...new Set(sessions.flatMap(({ phases }) => phases.map(({ phase }) => phase)))];
  const cell = ({ phases }, name) => {
    const found = phases.find(({ phase }) => phase === name);
    return found === undefined ? "" : `${Math.round(found.ms)} ms`;
  };
  return tableOf(
    ["phase", ...sessions.map(({ name }) => name)],
    names.map((name) => [name, ...sessions.map((session) => cell(session, name))]),
  );
};

const skippedText = (skipped) =>
  skipped.length === 0
    ? ""
    : `\nNot measured this time:\n\n${skipped.map(({ name, problem }) => `* ${name}: ${problem}`).join("\n")}\n`;

export const performancePage = ({ rows, sessions, skipped, names }) => `# Performance

\`npm run bench\` measures what sanddune costs, prints it and writes this page. The numbers are those of one machine in one run, and mean
little elsewhere; what counts is how they compare. Nothing here is a test: a busy machine would make it fail.

${tableOf(HEADINGS, rows.map(cellsOf))}
${skippedText(skipped)}
## What is measured

* **docker, bubblewrap**: a whole session against the least that does the same job. The agent writes one file and commits it.
  *Raw* is \`git worktree add\`, the sandbox (\`docker run -d --init\`, \`docker exec\`, \`docker rm -f\`; or one \`bwrap\`), \`git log\`,
  \`git worktree remove\`, as child processes of Node. It hands the repository's \`.git\` to the sandbox, checks nothing,
  and leaves a mess when it is interrupted. *sanddune* is one call of \`run()\`, which also checks that the sandbox works, gives it
  a git directory of its own, verifies what comes out, locks the branch, and keeps a journal and a log.
* **20,000 files**: the same in a large repository, where it must not compare worse.
* **sandbox.run()**: the same work in a sandbox of \`createSandbox()\`, which is there already, against a \`run()\` that makes a
  sandbox and a worktree for itself.
* **with an environment**: a run with an environment of one test, which is offered to the agent, and run once after its iteration,
  in a sandbox of its own, against the same run without one. In a *strict* one, requests of the agent are answered in a third sandbox.
* **with a trajectory**: a run that is recorded, with one checkpoint, against the same run that is not.
* **runAll()**: 50 such sessions in bubblewrap, as many at a time as the machine has cores, against the same 50 calls of
  \`run()\` one after the other; once each.
* **memory, time per MB**: an agent with two secrets that prints 200 MB of lines, against one that prints 50 MB. Memory is the orchestrator's
  highest resident size, as the operating system has recorded it, above the size before the run; the worst of three runs.
* **scenario, agent prints 30 MB of short lines**: one \`sanddune scenario run\` whose agent prints 15 million lines of one
  character, against a \`run()\` whose agent prints the same.
* **importing sanddune**: \`node -e 'import("@missingstudio/sanddune")'\` against \`node -e ''\`.
* **40 scenarios**: one \`sanddune scenario run\` over 40 scenarios with one small command each, against the same commands,
  as many at a time, and nothing else.

Sessions are medians of 10, imports of 20, after one round that warms up. Both sides take turns.

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
    npm run bench                  # everything that this machine can run
    npm run bench -- bubblewrap    # one of: ${names.join(", ")}; this page is left alone

The repositories are made in the directory for temporary files. Where the disk is slow, \`TMPDIR=/dev/shm\` saves minutes, and is
the stricter comparison: what both sides have in common gets cheaper.

Docker needs a running daemon and an image with git in it: \`SANDDUNE_BENCH_IMAGE\`, or the image of the tests, which
\`scripts/runtimes/start\` makes.
`;
