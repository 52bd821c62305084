/** A source of tasks, and how an agent reads them. */
export interface BacklogManager {
  readonly title: string;
  /** Lines of a Dockerfile that install its program, unless every image has it. */
  readonly dockerfile: readonly string[];
  /** Prints the open tasks. Like `viewCommand`, it runs in the sandbox, as a shell expression of a prompt. */
  readonly listCommand: string;
  /** Prints the task `{{TASK_ID}}`. */
  readonly viewCommand: string;
  /** How the agent closes a task: by something in the commit, so that both arrive together. */
  readonly closeStep: string;
  /** Env vars that its program needs, each with what it is for. */
  readonly envVars: Readonly<Record<string, string>>;
  /** The program that its commands call, with lines of a Dockerfile that install it; `undefined` for git. */
  readonly program?: { readonly name: string; readonly installation: readonly string[] };
  /** Env vars of which any one is a sufficient credential; none if it needs no server. */
  readonly credentials: readonly string[];
  /** Its program asks a server for the tasks. */
  readonly needsNetwork: boolean;
  /** Steps for the user before the first run. */
  readonly preparation: { readonly what: string; readonly command?: string };
}

/** The user's own list, for which no program is needed. */
export const TASK_FILE = "tasks.md";
const SHOW_TASK_FILE = `git show {{TARGET_BRANCH}}:.sanddune/${TASK_FILE}`;

/** GitHub no longer answers Debian's version. */
const INSTALL_GH = [
  "RUN curl -fsSLo /usr/share/keyrings/gh.gpg https://cli.github.com/packages/githubcli-archive-keyring.gpg",
  '&& echo "deb [signed-by=/usr/share/keyrings/gh.gpg] https://cli.github.com/packages stable main"',
  "> /etc/apt/sources.list.d/gh.list && apt-get update && apt-get install --yes gh",
].join(" ");

const INSTALL_BEADS = ["RUN npm install --global @beads/bd@1.3.0"];

/** A fresh worktree has the list from git, but no database yet. */
const OPEN_BEADS = "bd bootstrap --yes >/dev/null";
const BEADS_FILE = ".beads/issues.jsonl";

/** Any user can open an issue in a public repository, but only maintainers can label it. */
const LABEL = "sanddune";

/** A new backlog manager is one entry here. */
export const backlogManagers = {
  "github-issues": {
    title: "GitHub Issues",
    dockerfile: [],
    listCommand: `gh issue list --state open --label ${LABEL} --limit 100 --json number,title,body`,
    viewCommand: "gh issue view {{TASK_ID}} --json number,title,body",
    closeStep:
      "Let the commit message end with the line `Closes #<id>`: GitHub closes the issue when the commit arrives there.",
    envVars: { GH_TOKEN: "GitHub: a token that can read the issues of this repository, and nothing else." },
    program: { name: "gh", installation: [INSTALL_GH] },
    credentials: ["GH_TOKEN", "GITHUB_TOKEN"],
    needsNetwork: true,
    preparation: {
      what: `Label the issues that agents may take, issue 42 for instance`,
      command: `gh label create ${LABEL}; gh issue edit 42 --add-label ${LABEL}`,
    },
  },
  beads: {
    title: "Beads",
    dockerfile: INSTALL_BEADS,
    listCommand: `${OPEN_BEADS} && bd ready --json`,
    viewCommand: `${OPEN_BEADS} && bd show {{TASK_ID}} --json`,
    closeStep: `Let the commit close the task, too: \`${OPEN_BEADS} && bd close <id> && bd export -o ${BEADS_FILE} && git add ${BEADS_FILE}\`.`,
    envVars: {},
    program: { name: "bd", installation: INSTALL_BEADS },
    credentials: [],
    needsNetwork: false,
    preparation: {
      what: "Have git track the tasks: that is where agents read them",
      command: `bd export -o ${BEADS_FILE} && git add --force ${BEADS_FILE}`,
    },
  },
  none: {
    title: `a list of your own, .sanddune/${TASK_FILE}`,
    dockerfile: [],
    listCommand: SHOW_TASK_FILE,
    viewCommand: SHOW_TASK_FILE,
    closeStep: "Leave the list of tasks as it is: the subject of the commit says that the task is done.",
    envVars: {},
    credentials: [],
    needsNetwork: false,
    preparation: { what: `Write your tasks into .sanddune/${TASK_FILE}` },
  },
} as const satisfies Readonly<Record<string, BacklogManager>>;

export type BacklogManagerName = keyof typeof backlogManagers;
