import { rememberProject } from "../project/projectState.ts";
import type { AgentStepResult } from "./performAgentStep.ts";

/** An agent's step with its effect on the verdict. */
export interface AgentStepOutcome extends Omit<AgentStepResult, "unavailable" | "hasCalledTool"> {
  /** Set if the agent was unavailable before it had done anything: why, and what to do about it. */
  readonly manual?: string;
  /** Set if the agent had worked and then reported an error of its model. */
  readonly trouble?: string;
}

/** A step that only a person can do has not failed. */
export const EXIT_MANUAL = 0;

/**
 * Looks for evidence that an agent has worked: a tool call, or a change of the project. From then on the scenario is
 * graded, whatever error the agent reports, because an agent can print text that looks like an error of its model.
 */
export class AgentTraces {
  #found: string | undefined;

  constructor(private readonly root: string) {}

  /** Performs a step, and decides whether its error makes the scenario manual. */
  async watch(perform: () => Promise<AgentStepResult>): Promise<AgentStepOutcome> {
    // One piece of evidence is enough: the project need not be read again.
    const findChange = this.#found === undefined ? await rememberProject(this.root) : async () => undefined;
    const { unavailable, hasCalledTool, ...result } = await perform();
    this.#found ??= await this.#traceOf(hasCalledTool, result.isRefused === true, findChange);
    if (unavailable === undefined) return result;
    if (this.#found === undefined) return { ...result, code: EXIT_MANUAL, manual: unavailable };
    return { ...result, trouble: `graded all the same, because ${this.#found}. ${unavailable}` };
  }

  async #traceOf(
    hasCalledTool: boolean,
    isRefused: boolean,
    findChange: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    if (hasCalledTool) return "an agent had called a tool";
    if (isRefused) return "an agent left a project that cannot be graded";
    const changed = await findChange();
    return changed === undefined ? undefined : `an agent had changed ${JSON.stringify(changed)}`;
  }
}
