import { SandduneError } from "./base.ts";
import { block, sentences } from "./text.ts";

/** An option is missing, unknown, of the wrong type, or excludes another one. */
export class InvalidOptionsError extends SandduneError {
  constructor(
    readonly option: string,
    readonly problem: string,
    /** The names that were expected, if the option's name is unknown. */
    readonly expected?: readonly string[],
  ) {
    super(`Option \`${option}\`: ${problem}`);
  }
}

/** A program that sanddune itself needs on the host is missing or too old. */
export class PrerequisiteError extends SandduneError {
  constructor(
    readonly tool: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`${tool}: ${problem}.`, hint));
  }
}

/** There is no git repository at `cwd`. */
export class NotARepositoryError extends SandduneError {
  constructor(readonly cwd: string) {
    super(
      `${cwd} is not inside a git repository. Pass \`cwd\`, or create a repository: git init && git commit --allow-empty -m "Initial commit"`,
    );
  }
}

/** A kind of git repository that sanddune does not support. */
export class UnsupportedRepositoryError extends SandduneError {
  constructor(
    readonly cwd: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`The repository at ${cwd} ${problem}.`, hint));
  }
}

/** git accepts no branch of this name, or sanddune needs the name itself. */
export class InvalidBranchNameError extends SandduneError {
  constructor(
    override readonly branch: string,
    readonly problem: string,
  ) {
    super(`${JSON.stringify(branch)} cannot be used as a branch name: ${problem}.`);
  }
}

/** A branch or commit that an option names does not exist. */
export class NoSuchBranchError extends SandduneError {
  constructor(override readonly branch: string) {
    super(`There is no branch or commit ${JSON.stringify(branch)} in this repository. See: git branch --all`);
  }
}

/** A file or directory of `copyToWorktree` cannot be copied. */
export class CopyToWorktreeError extends SandduneError {
  constructor(
    readonly item: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(`copyToWorktree ${JSON.stringify(item)}: ${problem}.`, options);
  }
}

/** A file that the `key` of a hook's `cache` names cannot be used. Nothing was created. */
export class HookCacheKeyError extends SandduneError {
  constructor(
    readonly item: string,
    readonly problem: string,
  ) {
    super(
      `The key file ${JSON.stringify(item)} of a hook's cache ${problem}. Key files are committed files, named one by one and relative to \`cwd\`, without globs; name another one in \`cache.key\`.`,
    );
  }
}

/** A file or a symbolic link is in the place of a directory of sanddune. An agent may have created it. */
export class ConfigDirectoryError extends SandduneError {
  constructor(readonly path: string) {
    super(
      `${path} is not a directory. sanddune keeps its files there and follows no symbolic link. Find out what created it (git log -- ${path}), then remove it.`,
    );
  }
}

/** The agent provider and the sandbox provider both declare an env var, and neither takes precedence. */
export class EnvOverlapError extends SandduneError {
  constructor(readonly keys: readonly string[]) {
    super(
      `The agent provider and the sandbox provider both declare ${keys.join(", ")}. Declare each env var in one of them, or in the \`env\` of the run.`,
    );
  }
}

/** The value of an env var is not available. Nothing was created. The message never contains the value. */
export class EnvValueError extends SandduneError {
  constructor(
    readonly key: string,
    readonly problem: string,
    readonly stderr = "",
    options?: { cause?: unknown },
  ) {
    super(`The env var ${key} has no value: ${problem}.${block("Output of its command", stderr)}`, options);
  }
}

/** A prompt template has placeholders that no prompt argument fills. */
export class MissingPromptArgumentError extends SandduneError {
  constructor(
    readonly keys: readonly string[],
    readonly promptFile: string,
    readonly known: readonly string[],
  ) {
    super(
      sentences(
        `${promptFile} has ${keys.map((key) => `{{${key}}}`).join(", ")}, but there is no such prompt argument: pass ${keys.length === 1 ? "it" : "them"} in \`promptArgs\`.`,
        `Expected one of: ${known.join(", ")}.`,
        `To keep the text as it is, write \\{{${keys[0]}}}.`,
      ),
    );
  }
}
