import { Command } from "commander";
import type { Finding } from "../doctor/finding.ts";
import { checkImageName } from "../images/imageNames.ts";
import { didYouMean } from "../options/checks/checks.ts";
import { findProject } from "../project/findProject.ts";
import { isModulePath } from "../project/modulePath.ts";
import { findOwnProvider } from "./project/ownProvider.ts";
import { findDistrust } from "./project/trust.ts";
import { agentNames } from "./run/agentFlags.ts";
import { sandboxNames } from "./run/chosenSandbox.ts";
import { CWD_FLAG } from "./shared/cwdFlag.ts";
import { EXIT_RUN_FAILED } from "./shared/exitCodes.ts";
import { choices } from "./shared/flagChoices.ts";
import { withExamples } from "./shared/helpExamples.ts";
import { print, printJson } from "./shared/output.ts";
import { performing } from "./shared/performing.ts";
import { stopOnSignals } from "./shared/stopSignals.ts";
import { UsageError } from "./shared/usageError.ts";

interface DoctorFlags {
  readonly cwd?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly sandbox?: string;
  readonly imageName?: string;
  readonly json?: boolean;
}

const MARKS = { ok: "✓", failed: "✗", note: "-" } as const;

const STOPPED = {
  subject: "doctor",
  kept: "Nothing was changed.",
  tidying: "closing the test sandboxes",
};

/** A version follows the title without a colon. The output of a program can have several lines. */
const linesOf = (finding: Finding): string[] => {
  const { title, state, detail } = finding;
  const [first, ...others] = detail.split("\n").filter((line) => line.trim() !== "");
  return [
    `${MARKS[state]} ${title}${state === "ok" && /^\d/.test(detail) ? "" : ":"} ${first}`,
    ...others.map((line) => `    ${line}`),
    ...("fix" in finding ? [`  fix: ${finding.fix}`] : []),
  ];
};

const verdictOf = (findings: readonly Finding[]): string => {
  const failures = findings.filter(({ state }) => state === "failed").length;
  if (failures === 0) return "This machine is ready for runs.";
  return failures === 1 ? "One problem to fix." : `${failures} problems to fix.`;
};

const checkName = (flag: string, name: string | undefined, known: readonly string[]): void => {
  if (name === undefined || known.includes(name)) return;
  throw new UsageError(
    `${flag}: there is no ${JSON.stringify(name)}; expected one of: ${known.join(", ")}.${didYouMean(name, known)}`,
  );
};

/** Settings that the user has not trusted: a run would refuse them. The other checks find all other problems of the project. */
const checkTrust = async (cwd: string | undefined): Promise<readonly Finding[]> => {
  const distrust = await findProject(cwd)
    .then(findDistrust)
    .catch(() => undefined);
  return distrust === undefined
    ? []
    : [{ title: "trust", state: "failed", detail: distrust.problem, fix: distrust.fix }];
};

const perform = async ({ json, ...flags }: DoctorFlags): Promise<void> => {
  checkName("--agent", flags.agent, agentNames);
  if (!isModulePath(flags.sandbox ?? "")) checkName("--sandbox", flags.sandbox, sandboxNames);
  const { imageName } = flags;
  const imageProblem = imageName === undefined ? undefined : checkImageName(imageName);
  if (imageProblem !== undefined) throw new UsageError(`--image-name: ${imageProblem}`);
  // Only now: a command line that asks for help, or for a completion, does not wait for Effect to be loaded.
  const { examine } = await import("../doctor/examine.ts");
  const module = flags.sandbox !== undefined && isModulePath(flags.sandbox) ? flags.sandbox : undefined;
  const own =
    flags.sandbox === undefined || module !== undefined
      ? await findOwnProvider(module, flags.cwd)
      : undefined;
  using stop = stopOnSignals(STOPPED);
  const findings = [...(await examine(flags, stop.signal, own)), ...(await checkTrust(flags.cwd))];
  const ok = findings.every(({ state }) => state !== "failed");
  if (json) await printJson({ ok, findings });
  else await print([...findings.flatMap(linesOf), "", verdictOf(findings)].join("\n"));
  if (!ok) process.exitCode = EXIT_RUN_FAILED;
};

/** `sanddune doctor`. */
export const createDoctorCommand = (): Command =>
  withExamples(
    new Command("doctor")
      .description("Checks whether this machine is ready for runs, and says how to fix what is not.")
      .option(...CWD_FLAG)
      .addOption(choices("--agent <name>", "check this agent", agentNames))
      .option("--model <name>", "the model of the agent")
      .addOption(
        choices("--sandbox <name>", "check this sandbox (default: at least one must work)", sandboxNames),
      )
      .option("--image-name <name>", "the image of the container")
      .option("--json", "print the findings as one JSON object"),
    { title: "Before the first run", command: "sanddune doctor" },
    {
      title: "Before you switch to another agent and sandbox",
      command: "sanddune doctor --agent codex --sandbox podman",
    },
  ).action(performing(perform));
