import type { AgentStreamEvent } from "../../agents/contract.ts";
import { showDuration } from "../../display/duration.ts";
import { neutralise } from "../../display/neutralise.ts";
import { type Screen, type StatusLine, screenOf } from "../../display/screen.ts";
import { plain, type Style } from "../../display/style.ts";
import type { FleetEvent, TaskOutcome } from "../../fleet/contract.ts";
import { counted } from "../../tools/counted.ts";
import { oneLine } from "../../tools/shorten.ts";
import { tell } from "../shared/output.ts";
import { messageOf } from "../shared/reportError.ts";
import { countStates, labelOf } from "./fleetTable.ts";

const MARKS = {
  succeeded: ["green", "✓"],
  unsolved: ["yellow", "✗"],
  failed: ["red", "✗"],
  aborted: ["yellow", "■"],
  "not started": ["dim", "-"],
} as const satisfies Record<TaskOutcome["state"], readonly [Parameters<Style>[0], string]>;

interface Running {
  readonly label: string;
  readonly startedAt: number;
  readonly status: StatusLine;
  toolCalls: number;
}

/** The rest is in the run log. */
const MAX_PROBLEM_LINES = 6;

const statusOf = ({ label, startedAt, toolCalls }: Omit<Running, "status">): string =>
  [
    neutralise(label),
    showDuration(performance.now() - startedAt),
    ...(toolCalls === 0 ? [] : [counted(toolCalls, "tool call")]),
  ].join(" · ");

/** The outcome of a task in lines; one line if it succeeded. */
const linesOf = (outcome: TaskOutcome, style: Style): string[] => {
  const { state, branch, commits, durationMs, error, logFilePath, warnings = [] } = outcome;
  const [colour, mark] = MARKS[state];
  const facts = [
    state,
    ...(branch === undefined ? [] : [branch]),
    counted(commits.length, "commit"),
    showDuration(durationMs),
  ];
  const why = error === undefined ? warnings.join("\n") : messageOf(error);
  const isFine = state === "succeeded";
  const problem = isFine ? [] : why.trimEnd().split("\n").slice(0, MAX_PROBLEM_LINES);
  const log = isFine || logFilePath === undefined ? [] : [`log: ${logFilePath}`];
  return [
    `${style(colour, mark)} ${neutralise(`${labelOf(outcome)}  ${facts.join("  ")}`)}`,
    ...[...problem, ...log].map((line) => `    ${neutralise(line)}`),
  ];
};

/** Shows a fleet's progress: at a terminal a status line for each run and counts, else a line per event. */
export class FleetProgress {
  readonly #screen: Screen | undefined;
  readonly #showsRuns: boolean;
  readonly #running = new Map<number, Running>();
  readonly #states: TaskOutcome["state"][] = [];
  readonly #counts: StatusLine = {
    text: () =>
      `${this.#states.length} of ${this.total} · ${countStates(this.#states)} · ${this.#running.size} running`,
  };

  constructor(
    private readonly total: number,
    options: {
      /** Whether standard output is JSON. */
      readonly json: boolean;
      /** Whether the runs show themselves. */
      readonly runsAreShown: boolean;
    },
  ) {
    const screen = options.json ? undefined : screenOf(process.stdout);
    this.#screen = screen?.isLive ? screen : undefined;
    this.#showsRuns = !options.runsAreShown;
    this.#screen?.show(this.#counts);
  }

  /** Counts the tool calls of a run's agent. */
  agentEvent(index: number, { type }: AgentStreamEvent): void {
    const running = this.#running.get(index);
    if (running !== undefined && type === "toolCall") running.toolCalls++;
  }

  event(event: FleetEvent): void {
    switch (event.type) {
      case "started":
        this.#start(event);
        break;
      case "retried": {
        const facts = `${labelOf(event)}  attempt ${event.attempt}: ${oneLine(messageOf(event.error))}`;
        this.#tell([`↻ ${neutralise(facts)}`]);
        break;
      }
      case "finished":
        this.#finish(event.outcome);
        break;
    }
  }

  close(): void {
    this.#screen?.hide(this.#counts);
  }

  #start(task: { readonly index: number; readonly name?: string }): void {
    const label = labelOf(task);
    const status = { text: () => statusOf(running) };
    const running: Running = { label, startedAt: performance.now(), toolCalls: 0, status };
    this.#running.set(task.index, running);
    if (this.#screen === undefined) void tell(`▶ ${label}`);
    else if (this.#showsRuns) this.#screen.show(status);
  }

  #finish(outcome: TaskOutcome): void {
    const running = this.#running.get(outcome.index);
    this.#running.delete(outcome.index);
    if (running !== undefined) this.#screen?.hide(running.status);
    this.#states.push(outcome.state);
    // The table at the end shows the tasks that were not started.
    if (outcome.state !== "not started") this.#tell(linesOf(outcome, this.#screen?.style ?? plain));
  }

  #tell(lines: readonly string[]): void {
    if (this.#screen === undefined) void tell(lines.join("\n"));
    else this.#screen.print(lines);
  }
}
