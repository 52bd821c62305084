import { join } from "node:path";
import { configDirectoryPart } from "../options/configDirectory.ts";
import type { LoggingOption } from "../options/logging.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import type { RunDisplay, SessionKind } from "./contract.ts";
import { printNotice } from "./notice.ts";
import { RunLog } from "./runLog.ts";
import { screenOf } from "./screen.ts";
import { teeDisplay } from "./teeDisplay.ts";
import { TerminalDisplay } from "./terminalDisplay.ts";

const MAX_NAME_LENGTH = 40;

/** The path of a run log. File names sort by time, and are unique for each run. */
export const logFilePathOf = (configDirectory: string, runId: string, name = ""): string => {
  const suffix = name.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, MAX_NAME_LENGTH);
  const file = suffix === "" ? `${runId}.log` : `${runId}-${suffix}.log`;
  return join(configDirectoryPart(configDirectory, "logs"), file);
};

export interface DisplaySettings {
  readonly kind: SessionKind;
  readonly logFilePath: string;
  readonly logging: LoggingOption;
  readonly agent: string;
  readonly name: string | undefined;
}

/** Opens the run log of a session and, if the caller wants it, terminal mode. */
export const openDisplay = ({ kind, logFilePath, logging, name, agent }: DisplaySettings): RunDisplay => {
  const isVerbose = logging.verbose ?? false;
  const log = new RunLog({ kind, path: logFilePath, name, isVerbose });
  if (logging.type === "stdout") {
    return teeDisplay(log, new TerminalDisplay(screenOf(process.stdout), { kind, agent, name, isVerbose }));
  }
  if (!logging.quiet) printNotice(name, `Run log: tail -f ${shellQuote(logFilePath)}`);
  return log;
};
