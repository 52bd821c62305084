// A run in a sandbox that is there already, against the agent's command in one that was made by hand.
import { createSandbox } from "../../dist/index.js";
import { AGENT } from "../contestants/agent.mjs";
import { takesPart } from "../contestants/contestants.mjs";
import { ownAgent, ownLogging, ownSandbox } from "../contestants/own.mjs";
import { peerAgent, peerLogging, peerSandbox } from "../contestants/peer.mjs";
import { withRawSandbox, withRawWorktree } from "../contestants/raw.mjs";
import { takeTurns } from "../machine/measure.mjs";
import { PROBLEMS } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { atMostAdded, timeRow } from "../report/row.mjs";

const FILES = 20;
const ROUNDS = 10;

const expectCommit = ({ commits }) => {
  if (commits.length !== 1) throw new Error("the run has made no commit");
};

const ownContestant = (sandbox) => ({
  perform: () =>
    sandbox.run({ agent: ownAgent(AGENT), prompt: "Work", logging: ownLogging() }).then(expectCommit),
});

const peerContestant = (sandbox, repository) => ({
  optional: true,
  perform: (round) =>
    sandbox
      .run({ agent: peerAgent(AGENT), prompt: "Work", logging: peerLogging(repository, `warm-${round}`) })
      .then(expectCommit),
});

/** Opens a sandbox, and closes it when `work` is over. */
const withSandbox = async (create, work) => {
  const sandbox = await create();
  try {
    return await work(sandbox);
  } finally {
    await sandbox.close();
  }
};

const withPeerContestant = (peer, kind, repository, work) =>
  takesPart(peer, kind)
    ? withSandbox(
        () => peer.createSandbox({ branch: "warm/peer", sandbox: peerSandbox(peer), cwd: repository }),
        (sandbox) => work(peerContestant(sandbox, repository)),
      )
    : work(undefined);

const withRawContestant = (kind, repository, work) =>
  withRawWorktree(repository, "warm/raw", (worktree) =>
    withRawSandbox({ kind, repository, worktree }, (sandbox) => work({ perform: () => sandbox.exec(AGENT) })),
  );

const measure = (kind, target, { peer, rounds }) =>
  withScratchDirectory(async (directory) => {
    const cwd = await makeRepository(directory, FILES);
    const samples = await withSandbox(
      () => createSandbox({ branch: "warm/own", sandbox: ownSandbox(kind), cwd }),
      (sandbox) =>
        withPeerContestant(peer, kind, cwd, (peerSide) =>
          withRawContestant(kind, cwd, (raw) =>
            takeTurns({ raw, peer: peerSide, own: ownContestant(sandbox) }, rounds(ROUNDS)),
          ),
        ),
    );
    return { rows: [timeRow({ id: `warm-${kind}/total`, name: `${kind}, sandbox.run()`, samples, target })] };
  });

const benchmark = (kind, target) => ({
  name: `warm-${kind}`,
  problem: PROBLEMS[kind],
  measure: (context) => measure(kind, target, context),
});

export const warmBenchmarks = [benchmark("docker"), benchmark("bubblewrap", atMostAdded(25))];
