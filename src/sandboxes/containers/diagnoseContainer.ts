import { parseObject } from "../../tools/json/parseJson.ts";
import type { Diagnosis } from "../exec/sandboxAccess.ts";
import { type ContainerEngine, callEngine } from "./engine.ts";

/** The state of a container that does not answer. */
export interface ContainerDiagnosis extends Diagnosis {
  /** `undefined` if its engine does not say. */
  readonly isRunning: boolean | undefined;
}

interface ContainerState {
  readonly Status?: string;
  readonly Running?: boolean;
  readonly OOMKilled?: boolean;
  readonly ExitCode?: number;
  readonly Error?: string;
}

const problemOf = (state: ContainerState): string => {
  if (state.OOMKilled) return "its container ran out of memory";
  if (state.Running === false) return `its container ended with exit code ${state.ExitCode ?? "unknown"}`;
  return "its container runs, but commands can no longer be started in it";
};

const DIAGNOSIS_TIMEOUT_MS = 3000;

/** Finds out why a container does not answer. */
export const diagnoseContainer = async (
  engine: ContainerEngine,
  container: string,
): Promise<ContainerDiagnosis> => {
  const ask = (args: readonly string[]) =>
    callEngine(engine, args, { timeoutMs: DIAGNOSIS_TIMEOUT_MS }).catch(() => undefined);
  const [inspected, logs] = await Promise.all([
    ask(["inspect", "--type", "container", "--format", "{{json .State}}", container]),
    ask(["logs", "--tail", "20", container]),
  ]);
  const who = engine.connection === undefined ? engine.name : `${engine.name} at ${engine.connection.host}`;
  if (inspected === undefined)
    return { problem: `${who} does not answer`, details: "", isRunning: undefined };
  if (inspected.exitCode !== 0) {
    const isGone = /no such (container|object)/i.test(inspected.stderr);
    return {
      problem: isGone ? "its container no longer exists" : `${who} could not look it up`,
      details: inspected.stderr.trim(),
      isRunning: isGone ? false : undefined,
    };
  }
  const lastWords = logs === undefined ? "" : `${logs.stdout}${logs.stderr}`.trim();
  // An engine that prints something else is quoted below.
  const state: ContainerState = parseObject(inspected.stdout) ?? {};
  return {
    problem: problemOf(state),
    // No command can end its container, so an ended one was ended from outside.
    isByCommands: state.OOMKilled === true || state.Running === true,
    details: [`Container ${container}: ${inspected.stdout.trim()}`, lastWords].filter(Boolean).join("\n"),
    isRunning: state.Running,
  };
};
