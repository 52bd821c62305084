/**
 * Where the value of an env var comes from.
 *
 * Every value counts as a secret and is redacted in logs, results and errors, unless it is marked as public.
 */
export type EnvValue =
  | string
  /** Asked once for each run, before anything is created. */
  | (() => string | Promise<string>)
  /** A line for `sh` on the host, whose output is the value: `{ command: "pass show anthropic" }`. */
  | { readonly command: string /** 60 000 when it is left out. */; readonly timeoutMs?: number }
  /** Not a secret: shown as it is. */
  | { readonly public: string };

/** Env vars of a single command, with their values. Each counts as a secret, unless it is marked as public. */
export type CommandEnv = Readonly<Record<string, string | { readonly public: string }>>;

/**
 * Env vars by name. `undefined` declares one whose value `.sanddune/.env` or the host's environment supplies: only
 * what is declared somewhere enters a sandbox.
 */
export type EnvVars = Readonly<Record<string, EnvValue | undefined>>;
