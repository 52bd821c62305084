import { SandboxError } from "../../errors.ts";
import { EXEC_ID_VARIABLE } from "../../process/kill/processMarks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";

/** Linux ends a single argument at 128 KiB; what is longer belongs on standard input. */
export const MAX_COMMAND_BYTES = 120 * 1024;

export const MISSING_CWD_EXIT_CODE = 126;

/** For images whose user has no home that can be written to. */
export const FALLBACK_HOME = `if [ -z "$HOME" ] || [ "$HOME" = / ] || [ ! -d "$HOME" ] || [ ! -w "$HOME" ]; then
  export HOME="$_sanddune_home"
  [ -d "$HOME" ] || mkdir -p -- "$HOME"
fi`;

/**
 * Runs one command in any sandbox that can run an argv with standard input.
 *
 * - Environment, working directory and command arrive on standard input, ahead of the command's own input, as
 *   assignments up to a line that equals the exec id. `read` takes them byte by byte and leaves the rest alone.
 *   So no value appears on an argv or in the metadata of a container.
 * - Input that ends before that line means that the caller is gone: then the command is not run.
 * - Signals to the process group are handled, not ignored: the command inherits the default action.
 * - The exit marker goes to both streams, each of which is complete when it has arrived. Its id is known to the
 *   wrapper alone: the command finds it neither in its environment nor on any argv, so it cannot forge the marker.
 * - The rest of the input is read to its end: `podman exec` drops output when it cannot write input.
 */
const WRAPPER = `
_sanddune_newline='
'
while IFS= read -r _sanddune_line; do
  [ "$_sanddune_line" != "$0" ] || break
  eval "$_sanddune_line"
done
[ "$_sanddune_line" = "$0" ] || exit 125
trap : HUP INT QUIT USR1 USR2 ALRM TERM
${FALLBACK_HOME}
if cd -- "$_sanddune_cwd"; then
  sh -c -- "$_sanddune_command"
  _sanddune_code=$?
else
  printf 'The working directory %s cannot be entered in the sandbox.\\n' "$_sanddune_cwd" >&2
  _sanddune_code=${MISSING_CWD_EXIT_CODE}
fi
printf '\\036%s:%d\\036' "$_sanddune_marker" "$_sanddune_code"
printf '\\036%s:%d\\036' "$_sanddune_marker" "$_sanddune_code" >&2
exec cat >/dev/null 2>&1
`;

export const execArguments = (id: string): readonly string[] => [
  "env",
  `${EXEC_ID_VARIABLE}=${id}`,
  "sh",
  "-c",
  WRAPPER,
  id,
];

export interface ExecPreamble {
  readonly id: string;
  readonly markerId: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Becomes HOME when the sandbox's own is missing, `/` or not writable. */
  readonly fallbackHome: string;
}

/** Every value stays on one line, which is what the wrapper reads and evaluates at a time. */
const oneLineQuote = (value: string): string => shellQuote(value).replaceAll("\n", `'"$_sanddune_newline"'`);

/** The input of the wrapper, ahead of the command's own standard input. */
export const execPreamble = (preamble: ExecPreamble): Buffer => {
  const lines = [
    // `command` keeps a name that some shell holds read-only (UID in bash) from ending the wrapper.
    ...Object.entries(preamble.env).map(([name, value]) => `command export ${name}=${oneLineQuote(value)}`),
    `_sanddune_marker=${preamble.markerId}`,
    `_sanddune_home=${oneLineQuote(preamble.fallbackHome)}`,
    `_sanddune_cwd=${oneLineQuote(preamble.cwd)}`,
    `_sanddune_command=${oneLineQuote(preamble.command)}`,
    preamble.id,
  ];
  return Buffer.from(`${lines.join("\n")}\n`, "utf8");
};

const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Refuses requests that cannot be passed on unchanged. Messages never contain values. */
export const checkExecRequest = (
  provider: string,
  request: { readonly command: string; readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): void => {
  const refuse = (problem: string): never => {
    throw new SandboxError(provider, problem);
  };
  const bytes = Buffer.byteLength(request.command);
  if (bytes > MAX_COMMAND_BYTES) {
    refuse(
      `a command of ${bytes} bytes was refused, because an argument ends at ${MAX_COMMAND_BYTES}: pass the bulk of it on stdin`,
    );
  }
  if (request.command.includes("\0")) refuse("a command that contains a NUL byte was refused");
  if (!request.cwd.startsWith("/") || request.cwd.includes("\0")) {
    refuse(`the working directory ${JSON.stringify(request.cwd)} is not an absolute path`);
  }
  for (const [name, value] of Object.entries(request.env)) {
    if (!SHELL_NAME.test(name) || name === EXEC_ID_VARIABLE) {
      refuse(`${JSON.stringify(name)} cannot be set as an environment variable`);
    }
    if (value.includes("\0")) refuse(`the environment variable ${name} contains a NUL byte`);
  }
};
