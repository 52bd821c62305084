// A whole session in each sandbox: small and large repositories, and each branch strategy.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT } from "../contestants/agent.mjs";
import { contestantsOf } from "../contestants/contestants.mjs";
import { ownSession } from "../contestants/own.mjs";
import { command } from "../machine/command.mjs";
import { median, takeTurns } from "../machine/measure.mjs";
import { PROBLEMS } from "../machine/runtimes.mjs";
import { makeRepository, sharedRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { atMostAdded, atMostTimes, noTarget, timeRow, within } from "../report/row.mjs";

const SMALL = 20;
const FIRST_BYTE_GROWTH = 2;

const phasesOf = (repository, { runId }) =>
  readFileSync(join(repository, ".sanddune/runs", runId, "journal.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === "phase");

/** A session that also says when the agent's first byte arrived. */
const withFirstByte = (session) => async (options) => {
  const startedAt = performance.now();
  let firstByteMs;
  const onFirstByte = () => {
    firstByteMs ??= performance.now() - startedAt;
  };
  const result = await session({ ...options, onFirstByte });
  if (firstByteMs === undefined) throw new Error("the agent's first byte never arrived");
  return { result, firstByteMs };
};

/** A commit between two sessions: what was prepared for the previous commit does not fit. */
const commitOnMain = (repository) =>
  command("git", "-C", repository, "commit", "--quiet", "--allow-empty", "-m", "Other work");

const contest = async (definition, { peer, rounds }, repository, smallRepository) => {
  const { name, kind, strategy, isNewCommit = false } = definition;
  const firstBytes = { raw: [], own: [] };
  const phases = new Map();
  const contestantFor = (session, side, cwd = repository) => ({
    before: () => (isNewCommit ? commitOnMain(cwd) : undefined),
    perform: (round) =>
      withFirstByte(session)({ kind, repository: cwd, strategy, agent: AGENT, name: `${name}/${round}` }),
    after: ({ result, firstByteMs }) => {
      firstBytes[side] = [...(firstBytes[side] ?? []), firstByteMs];
      if (side !== "own") return;
      for (const { phase, durationMs } of phasesOf(cwd, result)) {
        phases.set(phase, [...(phases.get(phase) ?? []), durationMs]);
      }
    },
  });
  const samples = await takeTurns(
    {
      ...contestantsOf(peer, kind, contestantFor),
      ...(smallRepository && { small: contestantFor(ownSession, "small", smallRepository) }),
    },
    rounds(definition.rounds),
  );
  return {
    samples,
    firstBytes,
    phases: [...phases].map(([phase, durations]) => ({ phase, ms: median(durations) })),
  };
};

const rowsOf = ({ name, title, target, firstByteTarget = noTarget }, { samples, firstBytes }) => {
  const rows = [
    timeRow({ id: `${name}/total`, name: title, samples, target }),
    timeRow({
      id: `${name}/first-byte`,
      name: `${title}, first byte`,
      samples: { ...firstBytes, ...(samples.peer?.length === 0 && { peer: [] }) },
      target: firstByteTarget,
    }),
  ];
  if (firstBytes.small === undefined) return rows;
  return [
    ...rows,
    timeRow({
      id: `${name}/first-byte-growth`,
      name: `${title}, first byte against ${SMALL} files`,
      samples: { raw: firstBytes.small, own: firstBytes.own },
      against: `run(), ${SMALL} files`,
      target: atMostTimes(FIRST_BYTE_GROWTH),
    }),
  ];
};

const LARGE = 1000;

const measure = (definition, context) =>
  withScratchDirectory(async (directory) => {
    const { fileCount, title, isComparedWithSmall = false } = definition;
    const repository =
      fileCount > LARGE ? await sharedRepository(fileCount) : await makeRepository(directory, fileCount);
    const small = isComparedWithSmall ? await makeRepository(directory, SMALL) : undefined;
    const contested = await contest(definition, context, repository, small);
    return { rows: rowsOf(definition, contested), phases: [{ name: title, phases: contested.phases }] };
  });

const strategyTitles = { branch: "", "merge-to-head": ", merge-to-head", head: ", head" };

const smallContest = (kind, strategy, target, firstByteTarget) => ({
  ...{ kind, strategy, target, firstByteTarget, fileCount: SMALL, rounds: 10 },
  name: strategy === "branch" ? `${kind}-${SMALL}` : `${kind}-${strategy}`,
  title: `${kind}, ${SMALL} files${strategyTitles[strategy]}`,
});

const largeContest = (kind, fileCount, options) => ({
  ...{ kind, fileCount, strategy: "branch", name: `${kind}-${fileCount}` },
  title: `${kind}, ${fileCount.toLocaleString("en")} files`,
  ...options,
});

const largeContests = (kind) => [
  largeContest(kind, 20_000, { rounds: 5, target: atMostTimes(1) }),
  largeContest(kind, 20_000, {
    ...{ rounds: 5, isNewCommit: true, name: `${kind}-20000-new-commit` },
    title: `${kind}, 20,000 files, first run on a commit`,
  }),
  largeContest(kind, 100_000, { rounds: 3, target: atMostTimes(0.3), isComparedWithSmall: true }),
];

const contests = [
  smallContest("docker", "branch", atMostTimes(1.15)),
  smallContest("docker", "merge-to-head", atMostTimes(1.2)),
  smallContest("docker", "head", atMostTimes(1.15)),
  ...largeContests("docker"),
  smallContest("bubblewrap", "branch", atMostAdded(60), within(50)),
  smallContest("bubblewrap", "merge-to-head", atMostAdded(60), within(50)),
  smallContest("bubblewrap", "head", atMostAdded(60), within(50)),
  ...largeContests("bubblewrap"),
];

export const sessionBenchmarks = contests.map((definition) => ({
  name: definition.name,
  problem: PROBLEMS[definition.kind],
  measure: (context) => measure(definition, context),
}));
