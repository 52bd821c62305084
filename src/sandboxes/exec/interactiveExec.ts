import { randomBytes } from "node:crypto";
import { SandboxError, SandboxLostError } from "../../errors.ts";
import { EXEC_ID_VARIABLE } from "../../process/kill/processMarks.ts";
import { runInTerminal } from "../../process/terminal/runInTerminal.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import type { ExecResult, InteractiveExecOptions } from "../contract.ts";
import { checkExecRequest, FALLBACK_HOME, MISSING_CWD_EXIT_CODE } from "./execWrapper.ts";
import { SIGKILL_EXIT_CODE } from "./missingExitMarker.ts";
import type { ExecRequest } from "./runExec.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

const ASK_TIMEOUT_MS = 10_000;

/** Programs look up the terminal's abilities by its name: one that the sandbox does not know becomes an ordinary one. */
const KNOWN_TERMINAL = `
_sanddune_known=
for _sanddune_directory in /usr/share/terminfo /lib/terminfo /etc/terminfo; do
  [ ! -e "$_sanddune_directory/\${TERM%"\${TERM#?}"}/$TERM" ] || _sanddune_known=yes
done
[ -n "$_sanddune_known" ] || export TERM=xterm-256color`;

const terminalEnvironment = (): Record<string, string> => {
  const { TERM = "xterm-256color", COLORTERM } = process.env;
  return { TERM, ...(COLORTERM !== undefined && { COLORTERM }) };
};

/**
 * The script on the sandbox's terminal. It removes itself, because it holds env vars, and writes the command's exit code
 * to a file. Keys that the terminal turns into signals are for the command, not for the shells around it.
 */
const startScript = (options: {
  readonly directory: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly fallbackHome: string;
  readonly isHost: boolean;
}): string => {
  const { columns = 80, rows = 24 } = process.stdout;
  const env = options.isHost ? options.env : { ...terminalEnvironment(), ...options.env };
  return `rm -f -- "$0"
trap : HUP INT QUIT TERM
${options.isHost ? "" : `stty rows ${rows} cols ${columns} 2>/dev/null`}
_sanddune_home=${shellQuote(options.fallbackHome)}
${Object.entries(env)
  .map(([name, value]) => `command export ${name}=${shellQuote(value)}`)
  .join("\n")}
${options.isHost ? "" : `${FALLBACK_HOME}\n${KNOWN_TERMINAL}`}
if cd -P -- ${shellQuote(options.cwd)}${options.isHost ? ` && [ "$(pwd -P)" = ${shellQuote(options.cwd)} ]` : ""}; then
  sh -c -- ${shellQuote(`trap : INT QUIT\n${options.command}`)}
  _sanddune_code=$?
else
  _sanddune_code=${MISSING_CWD_EXIT_CODE}
fi
printf '%s' "$_sanddune_code" > ${shellQuote(`${options.directory}/exit`)}
exit "$_sanddune_code"
`;
};

/** The command's exit code, by its file; without one, the script that writes it was killed. */
const exitCodeOf = async (
  access: SandboxAccess,
  run: (request: ExecRequest) => Promise<ExecResult>,
  ended: { readonly id: string; readonly directory: string; readonly clientExitCode: number },
): Promise<number> => {
  const exitFile = shellQuote(`${ended.directory}/exit`);
  const { stdout } = await run({
    // The agent may have replaced the file.
    command: `[ -L ${exitFile} ] || [ ! -f ${exitFile} ] || head -c 4 ${exitFile}; rm -rf ${shellQuote(ended.directory)}`,
    timeoutMs: ASK_TIMEOUT_MS,
  });
  if (/^\d{1,3}$/.test(stdout)) return Number(stdout);
  await access.kill(ended.id, { sudo: false });
  // Lower codes are errors of the terminal's process itself.
  return ended.clientExitCode >= 125 ? ended.clientExitCode : SIGKILL_EXIT_CODE;
};

/**
 * Runs a command on a terminal in the sandbox, which is shown on this process's terminal. Env vars and the command travel in
 * a file, because there is no other input. So does the exit code, because the exit code of the terminal's process says
 * nothing about the command.
 */
export const runInteractiveExec = async (
  access: SandboxAccess,
  run: (request: ExecRequest) => Promise<ExecResult>,
  request: InteractiveExecOptions & { readonly command: string },
  closed: AbortSignal,
): Promise<{ readonly exitCode: number }> => {
  const { command, cwd = access.worktreePath, env = {}, signal } = request;
  checkExecRequest(access.provider, { command, cwd, env });
  const id = randomBytes(16).toString("hex");
  const { fallbackHome, temporaryPath = "/tmp", isHost = false } = access;
  const directory = `${temporaryPath}/sanddune-${id}`;
  const startFile = `${directory}/start`;
  await access.requireTerminal?.();
  const stopped = new AbortController();
  let killed: Promise<void> | undefined;
  const stop = (reason: unknown) => {
    killed ??= access.kill(id, { sudo: false });
    stopped.abort(reason);
  };
  const stopWaiting = [onAbort(signal, stop), onAbort(closed, stop)];
  try {
    const prepared = await run({
      command: `umask 077 && mkdir ${shellQuote(directory)} && cat > ${shellQuote(startFile)}`,
      stdin: startScript({ directory, command, cwd, env, fallbackHome, isHost }),
      ...(signal && { signal }),
    });
    if (prepared.exitCode !== 0) {
      throw new SandboxError(access.provider, "a terminal could not be prepared in it", prepared.stderr);
    }
    const argv = ["env", `${EXEC_ID_VARIABLE}=${id}`, "sh", startFile];
    const launch = access.launch(argv, { sudo: false, execId: id, terminal: true });
    if (!("program" in launch)) throw new SandboxError(access.provider, "it has no terminal");
    await launch.isReady?.();
    const clientExitCode = await runInTerminal({
      ...launch,
      signal: stopped.signal,
      onExit: () => access.killAtExit?.(id),
    });
    const exitCode = await exitCodeOf(access, run, { id, directory, clientExitCode });
    const explanation = exitCode === SIGKILL_EXIT_CODE ? await access.explainKill?.() : undefined;
    if (explanation === undefined) return { exitCode };
    throw new SandboxLostError(access.provider, explanation.problem, explanation.details);
  } catch (error) {
    await (killed ?? access.kill(id, { sudo: false }));
    if (!closed.aborted)
      await run({ command: `rm -rf ${shellQuote(directory)}`, timeoutMs: ASK_TIMEOUT_MS }).catch(() => {});
    throw error;
  } finally {
    for (const stopEach of stopWaiting) stopEach();
  }
};
