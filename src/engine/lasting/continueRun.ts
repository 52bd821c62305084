import { AgentSessionNotFoundError } from "../../errors.ts";
import { type Checks, checkedOptions } from "../../options/checks/checks.ts";
import { name, signal as signalCheck } from "../../options/checks/session.ts";
import type { ContinueOptions, RunResult, SandboxRunResult } from "../../options/results.ts";
import type { AgentOptions, ResumeOptions } from "../../options/runOptions.ts";

const CHANGES: Checks<ContinueOptions> = { name, signal: signalCheck };

/** Adds `resume()` and `fork()` to the result of a run. They call the same entry point with the same options. */
export const withContinuation = <Value, Options extends AgentOptions<Value> & ResumeOptions>(
  result: SandboxRunResult<Value>,
  options: Options,
  run: (options: Options) => Promise<RunResult<Value>>,
): RunResult<Value> => {
  const continueSession = async (prompt: string, given: ContinueOptions, forkSession: boolean) => {
    const changes = checkedOptions(given, CHANGES);
    const { sessionId, sessionFilePath } = result.iterations.at(-1) ?? {};
    if (sessionId === undefined || sessionFilePath === undefined) {
      throw new AgentSessionNotFoundError(
        options.agent.name,
        sessionId,
        "it was not captured: see the warnings of the run, or `captureSessions` is off",
      );
    }
    // These options belong to the first call only.
    const { promptFile, promptArgs, maxIterations, signal, ...same } = options;
    return run({ ...same, ...changes, prompt, resumeSession: sessionId, forkSession } as Options);
  };
  // Not enumerable: the rest of a result is plain data, which can be cloned and serialised.
  return Object.defineProperties({ ...result } as RunResult<Value>, {
    resume: {
      value: (prompt: string, changes: ContinueOptions = {}) => continueSession(prompt, changes, false),
    },
    fork: {
      value: (prompt: string, changes: ContinueOptions = {}) => continueSession(prompt, changes, true),
    },
  });
};
