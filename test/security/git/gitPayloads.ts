import { shellQuote } from "../../../src/tools/shellQuote.ts";

/** Something that makes git run a program of the attacker's. */
export interface Payload {
  readonly name: string;
  /** Shell lines that plant it in the repository around the working directory. */
  readonly plant: (fire: string) => string;
  /** What a user would do to set it off, where it is planted in a repository of the user's own. */
  readonly trigger: string;
}

const HOOKS = [
  "applypatch-msg",
  "commit-msg",
  "fsmonitor-watchman",
  "post-applypatch",
  "post-checkout",
  "post-commit",
  "post-index-change",
  "post-merge",
  "post-receive",
  "post-rewrite",
  "post-update",
  "pre-applypatch",
  "pre-auto-gc",
  "pre-commit",
  "pre-merge-commit",
  "pre-push",
  "pre-rebase",
  "pre-receive",
  "prepare-commit-msg",
  "proc-receive",
  "push-to-checkout",
  "reference-transaction",
  "sendemail-validate",
  "update",
];

const config = (key: string, value: string): string => `git config ${key} ${shellQuote(value)}`;
const attributes = (line: string, file: string): string => `printf '%s\\n' ${shellQuote(line)} >> ${file}`;
const IN_TREE = ".gitattributes";
const IN_GIT_DIRECTORY = '"$(git rev-parse --git-dir)/info/attributes"';
const makeHooks = (directory: string, fire: string): string =>
  `mkdir -p ${directory}
for hook in ${HOOKS.join(" ")}; do
  printf '#!/bin/sh\\n%s\\nexit 0\\n' ${shellQuote(fire)} > ${directory}/$hook
  chmod +x ${directory}/$hook
done`;
const identity = "git config user.name Evil && git config user.email evil@example.com";

/** A long-running filter that greets git and offers nothing, so that git goes on as if there were none. */
const FILTER_WITHOUT_ABILITIES = "printf '0016git-filter-server\\n000eversion=2\\n00000000'; cat > /dev/null";

/** A repository in a directory, which its owner's `git status` also looks into once it is recorded as a submodule. */
const evilRepository = (directory: string, fire: string): string =>
  `git init --quiet ${directory} && (
cd ${directory} && ${identity}
echo content > file && echo 'file filter=evil' > .gitattributes
git add . && git commit --quiet -m Nested
touch -d 2001-01-01 file
${config("core.fsmonitor", `${fire}; :`)}
${config("filter.evil.clean", `${fire}; cat`)}
)`;

export const PAYLOADS: readonly Payload[] = [
  { name: "fsmonitor", plant: (fire) => config("core.fsmonitor", `${fire}; :`), trigger: "git status" },
  {
    name: "hooks",
    plant: (fire) => makeHooks('"$(git rev-parse --git-dir)/hooks"', fire),
    trigger: "git commit --allow-empty -m x",
  },
  {
    name: "hooksPath",
    plant: (fire) => `${makeHooks(".evil-hooks", fire)}\ngit config core.hooksPath "$PWD/.evil-hooks"`,
    trigger: "git commit --allow-empty -m x",
  },
  ...[IN_TREE, IN_GIT_DIRECTORY].flatMap((attributesFile): Payload[] => {
    const where = attributesFile === IN_TREE ? "gitattributes" : "infoAttributes";
    const filter = (kind: string, command: (fire: string) => string, trigger: (file: string) => string) => {
      const file = `${kind}-${where}.txt`;
      return {
        name: `filter-${kind}-${where}`,
        plant: (
          fire: string,
        ) => `echo text > ${file}; git add ${file}; git commit --quiet -m 'Add ${file}' -- ${file}
mkdir -p "$(git rev-parse --git-dir)/info"
${config(`filter.${kind}-${where}.${kind}`, command(fire))}
${attributes(`${file} filter=${kind}-${where}`, attributesFile)}
touch -d 2001-01-01 ${file}`,
        trigger: trigger(file),
      };
    };
    return [
      filter(
        "clean",
        (fire) => `${fire}; cat`,
        (file) => `git add ${file}`,
      ),
      filter(
        "smudge",
        (fire) => `${fire}; cat`,
        (file) => `rm ${file}; git checkout ${file}`,
      ),
      filter(
        "process",
        (fire) => `${fire}; ${FILTER_WITHOUT_ABILITIES}`,
        (file) => `git add ${file}`,
      ),
    ];
  }),
  {
    name: "includePath",
    plant: (fire) =>
      `git config --file "$PWD/.evil-config" core.fsmonitor ${shellQuote(`${fire}; :`)}\ngit config include.path "$PWD/.evil-config"`,
    trigger: "git status",
  },
  {
    name: "configWorktree",
    plant: (fire) =>
      `git config extensions.worktreeConfig true\ngit config --worktree core.fsmonitor ${shellQuote(`${fire}; :`)}`,
    trigger: "git status",
  },
  {
    name: "diffExternal",
    plant: (fire) => config("diff.external", `${fire}; :`),
    trigger: "echo x >> README.md; git diff",
  },
  {
    name: "textconv",
    plant: (fire) =>
      `${config("diff.evil.textconv", `${fire}; cat`)}\n${attributes("*.md diff=evil", IN_TREE)}`,
    trigger: "echo x >> README.md; git diff",
  },
  {
    name: "mergeDriver",
    plant: (fire) =>
      `${config("merge.evil.driver", `${fire}; false`)}\n${attributes("*.md merge=evil", IN_TREE)}`,
    trigger: `git checkout -q -b one; echo 1 >> README.md; git commit -q -m 1 README.md
git checkout -q -b two HEAD^; echo 2 >> README.md; git commit -q -m 2 README.md; git merge one; git merge --abort`,
  },
  {
    name: "gpgProgram",
    plant: (fire) => {
      const program = ".evil-gpg";
      return `printf '#!/bin/sh\\n%s\\nexit 1\\n' ${shellQuote(fire)} > ${program}; chmod +x ${program}
git config gpg.program "$PWD/${program}"; git config gpg.ssh.program "$PWD/${program}"; git config gpg.x509.program "$PWD/${program}"`;
    },
    trigger: "git commit -S --allow-empty -m x",
  },
  {
    name: "sshCommand",
    plant: (fire) =>
      `${config("core.sshCommand", `${fire}; :`)}; git remote add evil ssh://nowhere.invalid/x`,
    trigger: "git fetch evil",
  },
  {
    name: "remoteHelper",
    plant: (fire) =>
      `git config protocol.ext.allow always; git remote add ext ${shellQuote(`ext::sh -c ${fire.replaceAll(" ", "% ")}`)}`,
    trigger: "git fetch ext",
  },
  { name: "alias", plant: (fire) => config("alias.st", `!${fire}; :`), trigger: "git st" },
  {
    name: "editorAndPager",
    plant: (fire) =>
      ["core.editor", "core.askPass", "sequence.editor", "credential.helper"]
        .map((key) => config(key, `${fire}; :`))
        .join("\n"),
    trigger: "git commit --amend --allow-empty",
  },
  {
    name: "nestedRepository",
    plant: (fire) => evilRepository("nested", fire),
    trigger: "git -C nested status",
  },
  {
    name: "submodule",
    plant: (fire) => `${evilRepository("sub", fire)}\ngit add sub && git commit --quiet -m 'Add sub' -- sub`,
    trigger: "git status",
  },
  {
    name: "submoduleByGitFile",
    plant: (fire) => `${evilRepository("pointed", fire)}
mv pointed/.git pointed-git && echo "gitdir: ../pointed-git" > pointed/.git
git add pointed && git commit --quiet -m 'Add pointed' -- pointed`,
    trigger: "git status",
  },
];

/** Settings that only one of them can have, so that the others would not show. */
const ALTERNATIVES = [
  ["fsmonitor", "includePath", "configWorktree"],
  ["hooks", "hooksPath"],
  ["diffExternal", "textconv"],
];

const groupOf = ({ name }: Payload, index: number): number => {
  const alternatives = ALTERNATIVES.find((names) => names.includes(name));
  return alternatives?.indexOf(name) ?? index % 3;
};

/** Payloads that do not keep each other from running. */
const together = (payloads: readonly Payload[]) => ({
  names: payloads.map(({ name }) => name),
  plant: (fireFor: (name: string) => string) =>
    payloads.map(({ name, plant }) => `( ${plant(fireFor(name))}\n) > /dev/null 2>&1`).join("\n"),
  trigger: payloads.map(({ trigger }) => `( ${trigger}\n)`).join("\n"),
});

/** All payloads, in as few groups as they can run in. */
export const PAYLOAD_GROUPS = [0, 1, 2].map((group) =>
  together(PAYLOADS.filter((payload, index) => groupOf(payload, index) === group)),
);

/**
 * All payloads at once, to show that none runs. Some settings keep other payloads from running, but only where git reads
 * the agent's settings at all: there, fsmonitor and the filters run.
 */
export const ALL_PAYLOADS = together(PAYLOADS);

/** The shell command that proves, by a file, that it ran on the host: in a sandbox it does nothing. */
export const fireOnHost = (canary: string): string => `{ [ -n "$SANDDUNE_SANDBOX" ] || touch ${canary}; }`;
