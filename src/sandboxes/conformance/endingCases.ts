import assert from "node:assert/strict";
import { ProcessTimeoutError, SandboxLostError } from "../../errors.ts";
import {
  type AnySandboxHandle,
  type CaseDefinition,
  HANG_MS,
  moment,
  withHostDirectory,
} from "./conformanceCase.ts";

/**
 * Starts `processes`, each of which prints `ready` and inherits a pipe that it holds open for as long as it lives.
 * `assertAllDead` reads that pipe: it ends when the last of them is gone, and not before.
 */
const lingering = (processes: readonly string[]): string => `
mkfifo alive
exec 9<>alive
${processes.join("\n")}
echo ready
sleep 1000
`;

const assertAllDead = async (sandbox: AnySandboxHandle): Promise<void> => {
  const result = await sandbox.exec("exec 8<>alive 7<alive; exec 8>&-; cat <&7; echo dead", {
    timeoutMs: 10_000,
  });
  assert.equal(result.stdout, "dead\n", result.stderr);
};

const SETSID = "setsid sh -c 'echo ready; sleep 1000' &";
const DOUBLE_FORK = "(setsid sh -c '(echo ready; sleep 1000) &' &)";
const IGNORES_SIGNALS = "sh -c 'trap \"\" HUP INT TERM; echo ready; sleep 1000; sleep 1000' &";
const CLEARED_ENVIRONMENT = "(env -i PATH=\"$PATH\" setsid sh -c '(echo ready; sleep 1000) &' &)";

const assertAbortKills = async (sandbox: AnySandboxHandle, processes: readonly string[]): Promise<void> => {
  const controller = new AbortController();
  const reason = { the: "identical reason" };
  let ready = 0;
  const attempt = sandbox.exec(lingering(processes), {
    signal: controller.signal,
    timeoutMs: HANG_MS,
    onLine: () => {
      ready++;
      if (ready === processes.length + 1) controller.abort(reason);
    },
  });
  await assert.rejects(attempt, (error) => error === reason);
  await assertAllDead(sandbox);
};

const untilRunning = async (sandbox: AnySandboxHandle) => {
  const running = moment();
  const result = sandbox.exec("echo running; sleep 1000", { onLine: running.reach, timeoutMs: HANG_MS });
  result.catch(() => {});
  await running.reached;
  return { result };
};

const wasLost = (error: unknown): boolean => error instanceof SandboxLostError;

/** Abort, timeout and close. */
export const endingCases: readonly CaseDefinition[] = [
  {
    name: "an aborted command dies with all its descendants, and exec rejects with the identical reason",
    check: (sandbox) => assertAbortKills(sandbox, [SETSID, DOUBLE_FORK, IGNORES_SIGNALS]),
  },
  {
    name: "a descendant that has cleared its environment dies as well",
    appliesTo: (traits) => traits.ownsProcessNamespace !== false,
    check: (sandbox) => assertAbortKills(sandbox, [CLEARED_ENVIRONMENT]),
  },
  {
    name: "a signal that is aborted already starts nothing",
    check: async (sandbox) => {
      const reason = new Error("too late");
      const attempt = sandbox.exec("touch started", { signal: AbortSignal.abort(reason) });
      await assert.rejects(attempt, (error) => error === reason);
      assert.notEqual((await sandbox.exec("ls started")).exitCode, 0);
    },
  },
  {
    name: "an abort right after the start leaves nothing running",
    check: async (sandbox) => {
      await sandbox.exec("mkfifo alive");
      for (const delay of [0, 1, 2, 3]) {
        const controller = new AbortController();
        const reason = new Error("never mind");
        const attempt = sandbox.exec("exec 9<>alive; sleep 1000", { signal: controller.signal });
        let turns = delay;
        const abortLater = () => (turns-- > 0 ? setImmediate(abortLater) : controller.abort(reason));
        abortLater();
        await assert.rejects(attempt, (error) => error === reason);
      }
      await assertAllDead(sandbox);
    },
  },
  {
    name: "a timeout kills the command and gives a ProcessTimeoutError",
    check: async (sandbox) => {
      const attempt = sandbox.exec(lingering([SETSID]), { timeoutMs: 1500 });
      await assert.rejects(
        attempt,
        (error) => error instanceof ProcessTimeoutError && error.timeoutMs === 1500,
      );
      await assertAllDead(sandbox);
    },
  },
  {
    name: "other commands continue when one is aborted",
    makesNoFiles: true,
    check: async (sandbox) => {
      const controller = new AbortController();
      const running = moment();
      const other = sandbox.exec("echo running; read -r answer; echo survived", {
        stdin: (async function* () {
          await assert.rejects(sandbox.exec("sleep 1000", { signal: controller.signal }));
          yield Buffer.from("answer\n");
        })(),
        onLine: running.reach,
        timeoutMs: HANG_MS,
      });
      await running.reached;
      controller.abort();
      assert.equal((await other).stdout, "running\nsurvived\n");
    },
  },
  {
    name: "a background process that holds the streams open does not hold up exec",
    needsOwnSandbox: true,
    check: async (sandbox) => {
      const result = await sandbox.exec("(while :; do echo noise; sleep 0.01; done) & echo done; exit 3", {
        timeoutMs: HANG_MS,
      });
      assert.equal(result.exitCode, 3);
      assert.match(result.stdout, /^done$/m);
    },
  },
  {
    name: "close can be called twice, and concurrently",
    needsOwnSandbox: true,
    check: async (sandbox) => {
      await Promise.all([sandbox.close(), sandbox.close()]);
      await sandbox.close();
    },
  },
  {
    name: "after close, operations reject with a SandboxLostError",
    needsOwnSandbox: true,
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        await sandbox.exec("echo x >file");
        await sandbox.close();
        await assert.rejects(sandbox.exec("true"), wasLost);
        await assert.rejects(
          sandbox.copyFileOut(`${sandbox.worktreePath}/file`, `${directory}/out`),
          wasLost,
        );
      }),
  },
  {
    name: "close ends a running command with a SandboxLostError",
    needsOwnSandbox: true,
    check: async (sandbox) => {
      const { result } = await untilRunning(sandbox);
      await sandbox.close();
      await assert.rejects(result, wasLost);
    },
  },
];
