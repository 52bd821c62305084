import { rememberProject } from "../project/projectState.ts";
import type { AgentStepResult } from "./performAgentStep.ts";

/** How an agent's step counts. */
export interface AgentStepOutcome extends Omit<AgentStepResult, "unavailable" | "hasCalledTool"> {
  /** The agent was unavailable before it had done anything: why, and what to do about it. */
  readonly manual?: string;
  /** The agent had worked, and says that it was kept from its work. */
  readonly trouble?: string;
}

/** As for every step that only a person can do: nothing has failed. */
export const EXIT_MANUAL = 0;

/**
 * What shows that an agent of a scenario has worked: it called a tool, or the project is not what it was. From then on it is
 * graded, whatever trouble it tells of. Anything that an agent prints can look like an error of its model's.
 */
export class AgentTraces {
  #found: string | undefined;

  constructor(private readonly root: string) {}

  /** Has a step performed, and decides how its trouble counts. */
  async watch(perform: () => Promise<AgentStepResult>): Promise<AgentStepOutcome> {
    // Once there is a trace, nothing an agent has left needs to be read for another one.
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
