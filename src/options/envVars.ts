/**
 * The value of an env var, or where it comes from.
 *
 * Every value counts as a secret and is redacted in logs, results and errors, unless it is marked as public.
 */
export type EnvValue =
  | string
  /** Called once for each run, before anything is created. */
  | (() => string | Promise<string>)
  /** A command for `sh` on the host, whose output is the value: `{ command: "pass show anthropic" }`. */
  | { readonly command: string /** Default: 60,000. */; readonly timeoutMs?: number }
  /** Not a secret: never redacted. */
  | { readonly public: string };

/** The env vars of a single command. Every value counts as a secret, unless it is marked as public. */
export type CommandEnv = Readonly<Record<string, string | { readonly public: string }>>;

/**
 * Env vars by name. `undefined` declares an env var whose value comes from `.sanddune/.env` or from the host's
 * environment. Only declared env vars enter a sandbox.
 */
export type EnvVars = Readonly<Record<string, EnvValue | undefined>>;
