import { parseJson } from "../../tools/json/parseJson.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentEvent, AgentIteration, AgentProvider } from "../contract.ts";
import { checkedSteps, type ScriptedStep } from "./steps.ts";

export type { ScriptedStep };

/** Marks the lines that are events; everything else on stdout is the output of a shell command. */
const EVENT_MARK = "\u001esanddune-scripted ";

const say = (event: AgentEvent): string => `printf '%s\\n' ${shellQuote(EVENT_MARK + JSON.stringify(event))}`;

const writeFile = (path: string, content: string): string =>
  `mkdir -p -- "$(dirname -- ${shellQuote(path)})" && printf '%s' ${shellQuote(content)} > ${shellQuote(path)}`;

/** Each line that a tool prints is a result; the `turnStart` after them marks the end of the call. */
const stepLines = (step: ScriptedStep, index: number): string[] => {
  const id = String(index + 1);
  const end = say({ type: "turnStart" });
  if ("text" in step) return [say({ type: "text", text: `${step.text}\n` })];
  if ("shell" in step) {
    return [
      say({ type: "toolCall", name: "shell", input: { command: step.shell }, id }),
      `sh -c ${shellQuote(step.shell)} </dev/null`,
      end,
    ];
  }
  if ("commit" in step) {
    return [
      say({
        type: "toolCall",
        name: "commit",
        input: { message: step.commit, files: Object.keys(step.files ?? {}) },
        id,
      }),
      ...Object.entries(step.files ?? {}).map(([path, content]) => `${writeFile(path, content)} || exit 1`),
      `git add --all && git commit --quiet --allow-empty --message ${shellQuote(step.commit)} || exit 1`,
      end,
    ];
  }
  if ("sleepMs" in step) return [`sleep ${step.sleepMs / 1000}`];
  return [`exit ${step.exit}`];
};

const parseEvent = (line: string): AgentEvent | undefined =>
  parseJson(line.slice(EVENT_MARK.length)) as AgentEvent | undefined;

/**
 * An agent that performs a list of steps with nothing but `sh` and git, always in the same way. For demos and tests.
 *
 * @example
 * scripted([{ text: "On it." }, { commit: "Add a greeting", files: { "hello.txt": "hello\n" } }])
 */
export const scripted = (
  steps: readonly ScriptedStep[] | ((iteration: AgentIteration) => readonly ScriptedStep[]),
): AgentProvider => {
  const stepsOf = typeof steps === "function" ? steps : () => steps;
  if (typeof steps !== "function") checkedSteps(steps);
  return {
    name: "scripted",
    buildCommand: (iteration) => {
      const played = checkedSteps(stepsOf(iteration));
      return { command: ["sh", "-s"], stdin: `${played.flatMap(stepLines).join("\n")}\nexit 0\n` };
    },
    createParser: () => (line, stream) => {
      if (stream === "stderr") return [{ type: "raw", line, stream }];
      if (!line.startsWith(EVENT_MARK)) return [{ type: "toolResult", output: line }];
      return [parseEvent(line) ?? { type: "raw", line, stream }];
    },
  };
};
