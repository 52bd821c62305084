// The agent that all contestants run: the commands that real agents begin and end with, and hardly any work between them.

/** The very first thing that each of them does, so that the time to the first byte is the contestant's. */
const START = `printf 'started\\n'
`;

const CHANGES = `date +%s%N > work.txt
date +%s%N >> files/0/0.txt
`;

const WORK = `${START}changes=$(git status --porcelain)
if [ -n "$changes" ]; then
  printf 'The worktree is not clean:\\n%s\\n' "$changes" >&2
  exit 1
fi
git diff
${CHANGES}git status --short
git add -A
git commit --quiet -a -m Work
`;

/** Reports, in one line: how long \`git status\` and the first \`git add -A\` took, and how many objects were written. */
const TIMED_WORK = `${START}looseObjects() { git count-objects | cut -d ' ' -f 1; }
statusFrom=$(date +%s%N)
changes=$(git status --porcelain | wc -l)
statusTo=$(date +%s%N)
git diff
${CHANGES}before=$(looseObjects)
addFrom=$(date +%s%N)
git add -A
addTo=$(date +%s%N)
printf 'measured %s %s %s %s\\n' \\
  $((statusTo - statusFrom)) $((addTo - addFrom)) $(($(looseObjects) - before)) "$changes"
git commit --quiet -a -m Work
`;

/** Waits, before it touches anything, for a file that the bench makes. */
const WAITING_WORK = `${START}until [ -e "$1/go" ]; do sleep 0.05; done
${CHANGES}git add -A
git commit --quiet -a -m Work
`;

/** Committed to every repository. The contestants' own folders are ignored, as their users ignore them. */
export const AGENT_FILES = {
  ".gitignore": ".sanddune/\n.sandcastle/\n",
  "agent.sh": WORK,
  "timed.sh": TIMED_WORK,
  "waiting.sh": WAITING_WORK,
};

export const AGENT = ["sh", "agent.sh"];
export const TIMED_AGENT = ["sh", "timed.sh"];
export const waitingAgent = (directory) => ["sh", "waiting.sh", directory];

/** The line of the agent that measures itself. */
export const measuredBy = (stdout) => {
  const line = /^measured (\d+) (\d+) (\d+) (\d+)$/m.exec(stdout);
  if (line === null) throw new Error(`the agent has measured nothing:\n${stdout}`);
  const [statusNs, addNs, looseObjects, changes] = line.slice(1).map(Number);
  return { statusMs: statusNs / 1e6, addMs: addNs / 1e6, looseObjects, changes };
};
