import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";

/** A scenario has a `cli` step, but the suite does not say how its tool is started. */
export class NoCliCommandError extends SandduneError {
  constructor(readonly subcommand: string) {
    super(
      `The step ${JSON.stringify({ cli: subcommand })} needs the suite's tool, and the suite does not name one. Add "cliCommand" to .sanddune/scenarios.json, e.g. ["node", "bin/tool.mjs", "{subcommand}", "{projectRoot}", "{...flags}"].`,
    );
  }
}

/** A file that assertions use could not be protected from the agent, so their result would prove nothing. */
export class HelperFileError extends SandduneError {
  constructor(
    /** Relative to the project. */
    readonly path: string,
    readonly problem: string,
    readonly nextStep: string,
    options: { cause: unknown },
  ) {
    super(`The helper file ${JSON.stringify(path)} cannot be used: ${problem}. ${nextStep}`, options);
  }
}

/** A report could not be written. */
export class ReportFileError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(
      `The report ${path} was not written, and nothing was changed: ${problem}. Name another file: ${sandduneCommand("scenario", "report", "--output", "scenario-report.html")}`,
      options,
    );
  }
}

/** The fixture of a scenario cannot be used. */
export class FixtureError extends SandduneError {
  constructor(
    readonly fixture: string,
    readonly fixturesRoot: string,
    readonly problem: string,
  ) {
    super(
      `The fixture ${JSON.stringify(fixture)} cannot be used: ${problem}. Fixtures are directories below ${fixturesRoot}.`,
    );
  }
}

/** The project of a scenario could not be removed after its execution. */
export class ProjectRemovalError extends SandduneError {
  constructor(
    readonly path: string,
    readonly problem: string,
    options: { cause: unknown },
  ) {
    super(
      `The project directory could not be removed: ${problem}. Find out which process uses it, then remove it: rm -rf ${path}`,
      options,
    );
  }
}

/** A scenario with that id exists, and a new one does not replace it. */
export class ScenarioExistsError extends SandduneError {
  constructor(
    readonly id: string,
    readonly page: string,
  ) {
    super(
      `The scenario ${JSON.stringify(id)} already exists: ${page}. It was not changed. Edit that page, or choose another id.`,
    );
  }
}
