import { shellQuote } from "../../src/process/shellQuote.ts";

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
const touchReadme = "cat README.md > copy && mv copy README.md";
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
  ...[IN_TREE, IN_GIT_DIRECTORY].flatMap((file): Payload[] => {
    const where = file === IN_TREE ? "gitattributes" : "infoAttributes";
    return [
      {
        name: `filterClean-${where}`,
        plant: (fire) =>
          `mkdir -p "$(git rev-parse --git-dir)/info"\n${config("filter.evil1.clean", `${fire}; cat`)}\n${attributes("README.md filter=evil1", file)}`,
        trigger: `${touchReadme}; git add README.md`,
      },
      {
        name: `filterSmudge-${where}`,
        plant: (fire) =>
          `mkdir -p "$(git rev-parse --git-dir)/info"\n${config("filter.evil2.smudge", `${fire}; cat`)}\n${attributes("*.txt README.md filter=evil2", file)}\n${attributes("README.md filter=evil2", file)}`,
        trigger: "rm README.md; git checkout README.md",
      },
      {
        name: `filterProcess-${where}`,
        plant: (fire) =>
          `mkdir -p "$(git rev-parse --git-dir)/info"\n${config("filter.evil3.process", `${fire}; ${FILTER_WITHOUT_ABILITIES}`)}\n${attributes("README.md filter=evil3", file)}`,
        trigger: `${touchReadme}; git add README.md`,
      },
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
git checkout -q -b two HEAD^; echo 2 >> README.md; git commit -q -m 2 README.md; git merge one`,
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

/** The shell command that proves, by a file, that it ran on the host: in a sandbox it does nothing. */
export const fireOnHost = (canary: string): string => `{ [ -n "$SANDDUNE_SANDBOX" ] || touch ${canary}; }`;
