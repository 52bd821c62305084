import type { AgentStreamEvent } from "../agents/contract.ts";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { counted } from "../tools/counted.ts";
import { oneLine } from "../tools/shorten.ts";
import { shortenTo, wrapTo } from "./columns.ts";
import type { RunDisplay, RunEnding, SessionKind } from "./contract.ts";
import { showDuration } from "./duration.ts";
import { neutralise } from "./neutralise.ts";
import { namePrefix } from "./notice.ts";
import type { Screen, StatusLine } from "./screen.ts";
import { tellIfSlow } from "./slowStep.ts";
import { endingLines, endingTitle } from "./summary.ts";
import { firstWords, OpenCalls } from "./terminal/toolCalls.ts";
import { TextLines } from "./textLines.ts";
import { describeToolInput } from "./toolInput.ts";

export interface TerminalDisplayOptions {
  readonly kind: SessionKind;
  readonly agent: string;
  /** The prefix of each line. */
  readonly name: string | undefined;
  readonly isVerbose: boolean;
}

/** The limit for a tool's name or input. A line of a terminal is shorter. */
const MAX_SHOWN = 1000;

const ENDINGS = {
  succeeded: ["green", "✓"],
  unsolved: ["yellow", "✗"],
  failed: ["red", "✗"],
  aborted: ["yellow", "■"],
} as const;

/** Terminal mode: the agent's text and tool calls line by line, a status line below, and a summary at the end. */
export class TerminalDisplay implements RunDisplay {
  readonly failure = undefined;
  readonly #prefix: string;
  readonly #text: TextLines;
  readonly #status: StatusLine;
  /** The current steps. The last one is shown. */
  readonly #steps = new Map<symbol, { readonly label: string; readonly startedAt: number }>();
  #startedAt = performance.now();
  /** The text of the status line without a step. A sandbox or worktree then waits for its next call. */
  #activity: string | undefined;
  #toolCalls = 0;
  readonly #openCalls = new OpenCalls();
  /** The error because of which the agent retries. */
  #trouble: { readonly message: string; attempts: number } | undefined;

  constructor(
    private readonly screen: Screen,
    private readonly options: TerminalDisplayOptions,
  ) {
    this.#prefix = namePrefix(options.name);
    this.#text = new TextLines((line) => this.#print(this.#wrap(line).join("\n")));
    this.#status = { text: () => this.#statusText() };
    if (options.kind === "run") this.#activity = "Setting up";
    this.#showStatus();
  }

  note(sentence: string): void {
    this.#tell("dim", sentence);
  }

  warn(sentence: string): void {
    this.#tell("yellow", `Warning: ${sentence}`);
  }

  iteration(iteration: number, maxIterations: number): void {
    this.#startedAt = performance.now();
    this.#trouble = undefined;
    const activity = `${this.options.agent} is working`;
    this.#activity = activity;
    if (maxIterations === 1) return;
    const title = `Iteration ${iteration} of at most ${maxIterations}`;
    this.#activity = `${title}: ${activity}`;
    this.#printAside(this.screen.style("bold", title));
  }

  event(event: AgentStreamEvent): void {
    switch (event.type) {
      case "text":
        this.#trouble = undefined;
        this.#text.push(neutralise(event.text));
        break;
      case "toolCall":
        this.#trouble = undefined;
        this.#toolCalls++;
        this.#openCalls.begin(event.id, event.name);
        this.#printToolCall(event.name, event.input);
        break;
      case "toolResult":
        this.#printToolResult(event);
        break;
      case "error":
        // An error that it does not recover from is shown with the result.
        if (event.willRetry) this.#tellTrouble(event.message);
        break;
      case "result":
        if (event.isError) this.warn(`The agent says: ${event.message ?? "it failed"}`);
        break;
      case "raw":
        // An agent's stderr is meant for people.
        if (event.stream === "stderr" || this.options.isVerbose) this.note(`${event.stream} │ ${event.line}`);
        break;
      case "usage":
      case "sessionId":
      case "turnStart":
        break;
    }
  }

  /** The run log has the raw lines. Most are parts of what is shown anyway. */
  rawLine(): void {}

  hookLine(hook: string, line: string): void {
    if (this.options.isVerbose) this.note(`${hook} │ ${line}`);
  }

  step(label: string): () => void {
    const id = Symbol(label);
    this.#steps.set(id, { label, startedAt: performance.now() });
    this.#showStatus();
    const tell = (sentence: string) => this.note(sentence);
    const tellEnd = this.screen.isLive ? tellIfSlow(label, tell) : tellIfSlow(label, tell, tell);
    return () => {
      this.#steps.delete(id);
      this.#showStatus();
      tellEnd();
    };
  }

  close(ending: RunEnding): void {
    const { kind } = this.options;
    this.#text.end();
    const [style, sign] = ENDINGS[ending.state];
    this.#print(this.screen.style(style, `${sign} ${endingTitle(kind, ending.state)}`));
    if (ending.problem !== undefined) this.#tell("bold", ending.problem, "  ");
    // The command fits into a row of the terminal; the path of the log seldom does.
    const log = sandduneCommand("logs", ending.reached.runId ?? "");
    for (const line of endingLines(kind, ending, { log })) {
      this.#print(`  ${neutralise(line)}`);
    }
    // Last, because while it is shown, we know whether the program is in the middle of a line.
    this.screen.hide(this.#status);
  }

  #showStatus(): void {
    if (this.#activity !== undefined || this.#steps.size > 0) this.screen.show(this.#status);
    else this.screen.hide(this.#status);
  }

  /** Shows an error once. The status line counts its repetitions. */
  #tellTrouble(message: string): void {
    if (this.#trouble?.message === message) this.#trouble.attempts++;
    else {
      this.#trouble = { message, attempts: 1 };
      this.note(`The agent tries again: ${message}`);
    }
  }

  #printToolResult({ id, output, isError = false }: Extract<AgentStreamEvent, { type: "toolResult" }>): void {
    const name = this.#openCalls.end(id);
    // A part of an answer does not show how it ends.
    if (id !== undefined || isError) {
      const [style, sign] = isError ? (["red", "✗"] as const) : (["green", "✓"] as const);
      const words = [...(name === undefined ? [] : [`${name}:`]), firstWords(output)].join(" ");
      const room = this.screen.columns - this.#prefix.length - 4;
      const shown = shortenTo(neutralise(oneLine(words)), Math.max(1, room));
      this.#printAside(`  ${this.screen.style(style, sign)} ${this.screen.style("dim", shown)}`.trimEnd());
    }
    if (this.options.isVerbose && output !== "") {
      this.#printAside(this.screen.style("dim", neutralise(output)));
    }
  }

  #printToolCall(name: string, input: unknown): void {
    const show = (text: string) => neutralise(oneLine(text.slice(0, MAX_SHOWN)));
    const title = show(name);
    const room = this.screen.columns - this.#prefix.length - title.length - 3;
    const words = shortenTo(show(describeToolInput(input)), Math.max(1, room));
    this.#printAside(`${this.screen.style("cyan", `→ ${title}`)} ${this.screen.style("dim", words)}`);
  }

  /** Prints sentences from sanddune, wrapped between words. */
  #tell(style: Parameters<Screen["style"]>[0], text: string, indent = ""): void {
    const lines = neutralise(text)
      .split("\n")
      .flatMap((line) => this.#wrap(line, indent.length));
    this.#printAside(lines.map((line) => indent + this.screen.style(style, line)).join("\n"));
  }

  /** Lines in a pipe are not wrapped, so that they can be searched. */
  #wrap(line: string, indent = 0): string[] {
    return this.screen.isLive ? wrapTo(line, this.screen.columns - this.#prefix.length - indent) : [line];
  }

  /** Prints lines that are not the agent's text. */
  #printAside(text: string): void {
    this.#text.end();
    this.#print(text);
  }

  #print(text: string): void {
    this.screen.print(text.split("\n").map((line) => this.#prefix + line));
  }

  #statusText(): string {
    const activity = { label: this.#activity ?? "", startedAt: this.#startedAt };
    const { label, startedAt } = [...this.#steps.values()].at(-1) ?? activity;
    const elapsed = showDuration(performance.now() - startedAt);
    const calls = ` · ${counted(this.#toolCalls, "tool call")}`;
    const attempts = this.#trouble === undefined ? "" : ` · attempt ${this.#trouble.attempts + 1}`;
    return neutralise(`${this.#prefix}${label} · ${elapsed}${this.#toolCalls === 0 ? "" : calls}${attempts}`);
  }
}
