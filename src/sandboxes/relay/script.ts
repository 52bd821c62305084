import { shellQuote } from "../../tools/shellQuote.ts";

/** How many pieces of each output stream the sandbox keeps, in case a connection breaks. */
export const KEPT_PIECES = 512;

/** After so many pieces of a stream, the listener reports that it has taken them. */
export const TAKEN_STEP = 128;

/** The bytes that one read from a pipe returns. */
const PIECE_BYTES = 64 * 1024;

/** Of half a second at most each; then the client that started the relay counts as gone. */
const PATIENCE = 400;

/** Marks the processes of a relay. */
const RELAY_NAME = "sanddune-relay";

const SHARED = `
idle=0
pause() {
  idle=$((idle + 1))
  if [ $idle -lt 100 ]; then sleep 0.05; else sleep 0.5; fi
}
arrived() {
  for file in "$inbox/$1".*; do
    [ -e "$file" ] || return 1
    length=\${file%.*}
    [ $(($(wc -c <"$file"))) != "\${length##*.}" ] || return 0
  done
  return 1
}
`;

/** Passes input on, piece by piece. */
const FEED = `
inbox=$1
${SHARED}
next=0
while [ ! -e "$inbox/over" ]; do
  if arrived "in.$next"; then
    exec 3<"$file"
    rm -f "$file"
    cat <&3
    # The command could read there what was sent before it began.
    exec 3<&-
    case $file in *.last) break ;; esac
    next=$((next + 1))
    idle=0
  else
    pause
  fi
done
`;

/** Makes records of a stream. It waits for the listener before it deletes pieces that the listener has not taken. */
const TELL = `
inbox=$1
stream=$2
count=0
wait_until_taken() {
  [ $count -ge ${KEPT_PIECES} ] && [ $((count % ${TAKEN_STEP})) = 0 ] || return
  taken=$inbox/$stream.taken.$((count - ${KEPT_PIECES - TAKEN_STEP}))
  until [ -e "$taken" ] || [ -e "$inbox/over" ]; do sleep 0.05; done
  rm -f "$taken"
}
record() {
  wait_until_taken
  { printf '%s %s %s\\n' $count \${#1} "$1" >"$inbox/$stream.$count"; } 2>/dev/null
  printf '%s %s %s\\n' $count \${#1} "$1"
  [ $count -lt ${KEPT_PIECES} ] || rm -f "$inbox/$stream.$((count - ${KEPT_PIECES}))"
  count=$((count + 1))
}
while :; do
  data=$(exec 2>/dev/null; dd bs=${PIECE_BYTES} count=1 | base64 -w 0)
  [ -n "$data" ] || break
  record "$data"
done
record .
`;

/** In its own session, to be killed with its children. It reports its end: a process id may be reused. */
const helper = (script: string, stream: "in" | "out" | "err"): string =>
  `setsid sh -c ${shellQuote(`${script}: >"$inbox/${stream}.ended"`)} ${RELAY_NAME} "$inbox" ${stream}`;

/**
 * Runs one argv in a service that has no reliable standard input, passes output on as text, and loses connections: a shell script
 * between the service and the command.
 *
 * - It makes a directory, its inbox, and prints its path, `@ <path>`, until a file arrives there. Nothing is run before the argv
 *   has arrived. So a relay that was started twice, because a request was repeated, runs the command once: only one of the two
 *   is ever written to.
 * - Files in the inbox have their length in their name. They count only when they are complete, and writing one again
 *   changes nothing. A piece of input is deleted as soon as it has been opened.
 * - Output comes as records, `<number> <length> <base64>`, and the last one of a stream is `<number> 1 .`. A record that
 *   another process has written into, or that was cut off, does not have its length. The latest ones are kept as files.
 *   The relay deletes a record only after files in the inbox have confirmed it: a service may buffer any amount, and a slow
 *   listener would miss more than is kept.
 * - `= <exit code>` reports that the command is over, even if a background process holds its streams.
 * - The command has its own session, so signals to its process group do not hit the relay. The relay's argv holds nothing of the
 *   command's.
 * - It ends when the file `over` exists, or after minutes without a client, even if a background process of the command holds its
 *   streams. Its own helpers do not hold its streams: if it is killed, the service notices.
 */
const RELAY = `
for program in base64 cat chown dd id mkfifo mktemp rm setsid sleep stat wc; do
  command -v "$program" >/dev/null || { echo "There is no $program in the sandbox: install it in its image." >&2; exit 125; }
done
mask=$(umask)
umask 077
inbox=$(mktemp -d "\${TMPDIR:-/tmp}/sanddune-XXXXXXXXXX") || exit 125
[ "$(id -u)" != 0 ] || chown "$(stat -c %u:%g -- "$1")" "$inbox" || exit 125
mkfifo "$inbox/in" "$inbox/out" "$inbox/err" || exit 125
umask "$mask"
${SHARED}
end() {
  [ -e "$inbox/$1.ended" ] || kill -KILL "-$2" 2>/dev/null || kill -KILL "$2" 2>/dev/null
}

printf '@ %s\\n' "$inbox"
until arrived argv; do
  if [ -e "$inbox/over" ] || [ $idle -ge ${PATIENCE} ]; then
    rm -rf "$inbox"
    exit 125
  fi
  pause
  printf '@ %s\\n' "$inbox"
done
eval "set -- $(cat "$file")"
rm -f "$file"
idle=0
${helper(TELL, "out")} <"$inbox/out" &
out=$!
${helper(TELL, "err")} <"$inbox/err" >&2 &
err=$!
${helper(FEED, "in")} >"$inbox/in" 2>/dev/null &
feeder=$!
setsid "$@" <"$inbox/in" >"$inbox/out" 2>"$inbox/err"
code=$?
printf '%s\\n' "$code" >"$inbox/code"
printf '\\n= %s\\n' "$code"
end in "$feeder"
until [ -e "$inbox/over" ] || [ $idle -ge ${PATIENCE} ]; do pause; done
end out "$out"
end err "$err"
rm -rf "$inbox"
`;

/** The argv that a service runs. The inbox's owner is not always the user of the relay. */
export const relayArguments = (ownersDirectory: string): readonly string[] => [
  "sh",
  "-c",
  RELAY,
  RELAY_NAME,
  ownersDirectory,
];

/** Printed by a relay that cannot work in this sandbox. */
export const MISSING_PROGRAM = /^There is no \S+ in the sandbox/m;

export type OutputStream = "out" | "err";

export interface InboxFile {
  readonly name: string;
  readonly data: Uint8Array;
}

const nameWith = (name: string, data: Uint8Array, kind: "more" | "last"): string =>
  `${name}.${data.length}.${kind}`;

/** The argv to run. */
export const argvFile = (argv: readonly string[]): InboxFile => {
  const data = Buffer.from(argv.map(shellQuote).join(" "));
  return { name: nameWith("argv", data, "last"), data };
};

/** One piece of its standard input. */
export const inputFile = (index: number, data: Uint8Array, isLast: boolean): InboxFile => ({
  name: nameWith(`in.${index}`, data, isLast ? "last" : "more"),
  data,
});

/** Ends the relay. */
export const OVER_FILE: InboxFile = { name: "over", data: new Uint8Array() };

/** Holds the command's exit code. */
export const CODE_FILE = "code";

/** Confirms so many records of a stream, a multiple of `TAKEN_STEP`. */
export const takenFile = (stream: OutputStream, count: number): InboxFile => ({
  name: `${stream}.taken.${count}`,
  data: new Uint8Array(),
});

/** Holds a record of a stream. */
export const recordFile = (stream: OutputStream, index: number): string => `${stream}.${index}`;
