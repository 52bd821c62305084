import { shellQuote } from "../../tools/shellQuote.ts";
import { CODE_FILE, type OutputStream } from "./script.ts";

/** By these the processes of a connection are known among others. */
const NAME = "sanddune-relay";

/** The first line of a connection: where its relay prints. */
export const PIPES = /^pipes (\/.+)\n/;

/** The first line if the sandbox lacks a program, or has no room for the files of a relay. */
export const UNFIT = "unfit\n";

/** A file has arrived in the sandbox. */
export const RECEIVED = /^\+ (\/.+)$/;

/** Said about a command whose relay was killed: what kills that has killed the command, too. */
const KILLED_EXIT_CODE = 137;

/**
 * What every connection does: it prints what the relay prints, and writes the files that it is sent.
 *
 * - The relay prints into two pipes with names, in a directory that is called its pipes. It waits when they are full, so nothing
 *   is lost while there is no connection.
 * - A file comes as a line, `<length> <path>`, and so many bytes. That it was written is said on a line of its own: a
 *   record that is being printed at the same moment is spoilt by that, and fetched again.
 * - A connection ends the one before it, whose client may be gone: both would take from the same pipes. Process ids are
 *   compared with the time at which the process began, since they are given to others later.
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

/** Starts a relay that outlives its connection, and is the first connection to it. */
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
  /** Where the relay's files are, if that was said already. */
  readonly inbox: string;
  /** The numbers of the records that are to come next. */
  readonly due: Readonly<Record<OutputStream, number>>;
}

/** Another connection to a relay that was started before. */
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
  # A relay that ends by itself takes its pipes away.
  tell_end || [ ! -d "$pipes" ] || printf '\\n= %s\\n' ${KILLED_EXIT_CODE}
fi
`;

/** What a script is run by. It comes as the first bytes of standard input: argv are limited, and stay in logs. */
export const scriptArguments = (script: Uint8Array): readonly string[] => [
  "sh",
  "-c",
  `script=$(dd bs=${script.length} count=1 iflag=fullblock 2>/dev/null) || { echo unfit; exit 125; }; eval "$script"`,
  NAME,
];

/** Writes one file, for when there is no connection. */
export const writeArguments = (path: string): readonly string[] => ["sh", "-c", 'cat >"$1"', NAME, path];

export const THERE = "there\n";
export const NONE = "none\n";

/** Prints a file, and that it is complete; or says that there is none. */
export const readArguments = (path: string): readonly string[] => [
  "sh",
  "-c",
  'if [ -e "$1" ]; then cat "$1" && echo there; else echo none; fi',
  NAME,
  path,
];
