// The disk that runs need before their agents write anything: the agents wait while it is measured.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT, waitingAgent } from "../contestants/agent.mjs";
import { sessionsOf } from "../contestants/contestants.mjs";
import { diskUsage } from "../machine/disk.mjs";
import { atOnce } from "../machine/measure.mjs";
import { PROBLEMS } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { countRow } from "../report/row.mjs";

const FILES = 20_000;
const MANY = 50;
const MB = 1e6;
const MAX_MANY_MB = 100;
const MAX_BESIDE_INDEX_MB = 1;

/** Everything that the contestants write is to be below `directory`, temporary files too. */
const withTemporaryFilesIn = async (directory, work) => {
  const before = process.env.TMPDIR;
  mkdirSync(directory, { recursive: true });
  process.env.TMPDIR = directory;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
};

/** How much more disk is in use when the agents of `count` sessions have all started. */
const diskOf = async ({ session, side, kind, directory, repository, count }) => {
  const signals = join(directory, `signals-${side}-${count}`);
  mkdirSync(signals);
  const usedBefore = await diskUsage(directory);
  let waiting = 0;
  const started = deferred();
  const sessions = atOnce(count, (number) =>
    session({
      ...{ kind, repository, strategy: "branch", agent: waitingAgent(signals), mounts: [signals] },
      name: `disk/${count}/${number}`,
      onFirstByte: onceEach(() => {
        if (++waiting === count) started.resolve();
      }),
    }),
  );
  // A session that fails ends the wait; `sessions` then says why.
  await Promise.race([started.promise, sessions]);
  const used = (await diskUsage(directory)) - usedBefore;
  writeFileSync(join(signals, "go"), "");
  await sessions;
  return used / MB;
};

/** Node 20 has no `Promise.withResolvers`. */
const deferred = () => {
  let resolve;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
};

/** The agent's later output does not count. */
const onceEach = (work) => {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
};

/** The first session prepares what later ones share: it is not measured. */
const warmUp = (session, kind, repository) =>
  session({ kind, repository, strategy: "branch", agent: AGENT, name: "disk/warm-up" });

const inRepository = (work) =>
  withScratchDirectory((directory) =>
    withTemporaryFilesIn(join(directory, "tmp"), async () =>
      work(directory, await makeRepository(directory, FILES)),
    ),
  );

const measureOne = (kind, { peer }) =>
  inRepository(async (directory, repository) => {
    const indexMb = statSync(join(repository, ".git/index")).size / MB;
    const used = {};
    for (const [side, session] of Object.entries(sessionsOf(peer, kind))) {
      await warmUp(session, kind, repository);
      used[side] = await diskOf({ session, side, kind, directory, repository, count: 1 });
    }
    const limit = indexMb + MAX_BESIDE_INDEX_MB;
    return {
      rows: [
        countRow({
          ...{
            id: `disk-${kind}/run`,
            name: `${kind}, ${FILES.toLocaleString("en")} files, disk of a run`,
            ...used,
          },
          ...{ unit: " MB", digits: 1, limit, noise: 0.5 },
          target: `at most ${limit.toFixed(1)} MB: the index, and ${MAX_BESIDE_INDEX_MB} MB`,
        }),
      ],
    };
  });

/** By hand, every checkout is a worktree: one is measured for all of them. */
const measureMany = (kind, { peer }) =>
  inRepository(async (directory, repository) => {
    const { raw, own } = sessionsOf(peer, kind);
    const one = await diskOf({ session: raw, side: "raw", kind, directory, repository, count: 1 });
    await warmUp(own, kind, repository);
    const many = await diskOf({ session: own, side: "own", kind, directory, repository, count: MANY });
    return {
      rows: [
        countRow({
          ...{
            id: `checkouts-${kind}/disk`,
            name: `${kind}, disk of ${MANY} checkouts of 20,000 files at once`,
          },
          ...{ raw: one * MANY, own: many, unit: " MB", limit: MAX_MANY_MB, noise: 5 },
        }),
      ],
    };
  });

const benchmark = (name, kind, measure) => ({
  name: `${name}-${kind}`,
  problem: PROBLEMS[kind],
  measure: (context) => measure(kind, context),
});

export const diskBenchmarks = [
  benchmark("disk", "docker", measureOne),
  benchmark("disk", "bubblewrap", measureOne),
  benchmark("checkouts", "bubblewrap", measureMany),
];
