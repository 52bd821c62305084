import { shellQuote } from "../../tools/shellQuote.ts";
import { CODE_FILE, type OutputStream } from "./script.ts";

/** Marks the processes of a connection. */
const NAME = "sanddune-relay";

/** The first line of a connection: the directory of its relay's pipes. */
export const PIPES = /^pipes (\/.+)\n/;

/** The first line if the sandbox lacks a program, or disk space for the relay's files. */
export const UNFIT = "unfit\n";

/** A file has arrived in the sandbox. */
export const RECEIVED = /^\+ (\/.+)$/;

/** The exit code of a command whose relay was killed: then the command was killed, too. */
const KILLED_EXIT_CODE = 137;

/**
 * The work of every connection: it prints the relay's output, and writes the files that it receives.
 *
 * - The relay prints into two named pipes, in the directory `pipes`. It waits when they are full, so nothing is lost without a
 *   connection.
 * - A file arrives as a line, `<length> <path>`, followed by its bytes. A line of its own confirms it: that may break a record
 *   that is printed at the same moment, which is then fetched again.
 * - A connection ends the previous one, whose client may be gone: both would read the same pipes. Process ids are compared with
 *   the start time of the process, because they are reused.
 */
const LISTEN = `
begun() {
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  set -- \${stat##*) }
  echo "\${20}"
}
note() { for pid; do echo "$pid $(begun "$pid")"; done; }
listen() {
  exec 3<&0 7<>"$pipes/out" 8<>"$pipes/err"
  exec 5<"$pipes/out" 6<"$pipes/err" 7>&- 8>&-
  { replay out "$next_out"; tell_end; exec cat; } <&5 3<&- 6<&- &
  out=$!
  { replay err "$next_err"; exec cat; } <&6 >&2 3<&- 5<&- &
  err=$!
  exec 5<&- 6<&-
  while read -r length path <&3; do
    if [ "$length" = 0 ]; then : >"$path"; else dd bs="$length" count=1 iflag=fullblock <&3 >"$path"; fi 2>/dev/null
    printf '\\n+ %s\\n' "$path" >&2
  done &
  reader=$!
  note $$ $out $err $reader >"$pipes/listener"
  wait $out $err
  kill -KILL $reader 2>/dev/null
}
`;

/** Starts a relay that outlives its connection, and connects to it. */
export const startScript = (relay: readonly string[]): string => `${LISTEN}
pipes=$(mktemp -d "\${TMPDIR:-/tmp}/sanddune-XXXXXXXXXX") && mkfifo "$pipes/out" "$pipes/err" && command -v setsid >/dev/null || { echo unfit; exit 125; }
exec 7<>"$pipes/out" 8<>"$pipes/err"
setsid sh -c '"$@"; rm -rf "$0"' "$pipes" ${relay.map(shellQuote).join(" ")} </dev/null >&7 2>&8 7>&- 8>&- &
note $! >"$pipes/relay"
printf 'pipes %s\\n' "$pipes"
replay() { :; }
tell_end() { :; }
listen
`;

export interface Attachment {
  readonly pipes: string;
  /** The directory of the relay's files, if it is known already. */
  readonly inbox: string;
  /** The numbers of the next records. */
  readonly due: Readonly<Record<OutputStream, number>>;
}

/** Connects again to a running relay. */
export const attachScript = ({ pipes, inbox, due }: Attachment): string => `${LISTEN}
pipes=${shellQuote(pipes)}
inbox=${shellQuote(inbox)}
next_out=${due.out}
next_err=${due.err}
replay() {
  while [ -e "$inbox/$1.$2" ]; do
    cat "$inbox/$1.$2"
    echo
    set -- "$1" $(($2 + 1))
  done
}
tell_end() {
  { read -r code <"$inbox/${CODE_FILE}"; } 2>/dev/null || return
  printf '\\n= %s\\n' "$code"
}
runs() { [ -n "$2" ] && [ "$(begun "$1")" = "$2" ]; }
while read -r pid time; do
  ! runs "$pid" "$time" || kill -KILL "$pid"
done 2>/dev/null <"$pipes/listener"
printf 'pipes %s\\n' "$pipes"
if { read -r pid time <"$pipes/relay"; } 2>/dev/null && runs "$pid" "$time"; then
  listen
else
  replay out "$next_out"
  replay err "$next_err" >&2
  # A relay that ends by itself removes its pipes.
  tell_end || [ ! -d "$pipes" ] || printf '\\n= %s\\n' ${KILLED_EXIT_CODE}
fi
`;

/** Runs a script that arrives as the first bytes of standard input: argv are limited, and stay in logs. */
export const scriptArguments = (script: Uint8Array): readonly string[] => [
  "sh",
  "-c",
  `script=$(dd bs=${script.length} count=1 iflag=fullblock 2>/dev/null) || { echo unfit; exit 125; }; eval "$script"`,
  NAME,
];

/** Writes one file without a connection. */
export const writeArguments = (path: string): readonly string[] => ["sh", "-c", 'cat >"$1"', NAME, path];

export const THERE = "there\n";
export const NONE = "none\n";

/** Prints a file and a mark that it is complete, or a mark that it does not exist. */
export const readArguments = (path: string): readonly string[] => [
  "sh",
  "-c",
  'if [ -e "$1" ]; then cat "$1" && echo there; else echo none; fi',
  NAME,
  path,
];
