import type { ConfigEntry } from "../configFile.ts";

/** Settings that affect the comparison of files with the index: the sandbox must see the same changes as the host. */
const COPIED_KEYS = new Set([
  "core.autocrlf",
  "core.eol",
  "core.filemode",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.safecrlf",
  "core.sparsecheckout",
  "core.sparsecheckoutcone",
  "core.symlinks",
  "extensions.objectformat",
  "index.sparse",
  "user.email",
  "user.name",
]);

const DEFAULT_IDENTITY: readonly ConfigEntry[] = [
  ["user.name", "sanddune agent"],
  ["user.email", "agent@sanddune.invalid"],
];

const withoutCredentials = (url: string): string => url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");

const isRemoteKey = (name: string): boolean => /^remote\..+\.(url|fetch)$/s.test(name);

/**
 * The configuration of a sandbox's git directory: from the host's, it takes the identity, the settings for comparing
 * files, and the remotes without credentials. It takes no setting that names a program.
 */
export const sandboxConfig = (hostConfig: readonly ConfigEntry[]): ConfigEntry[] => {
  const copied = new Map(hostConfig.filter(([name]) => COPIED_KEYS.has(name)));
  const remotes = hostConfig
    .filter(([name]) => isRemoteKey(name))
    .map(([name, value]): ConfigEntry => [name, name.endsWith(".url") ? withoutCredentials(value) : value]);
  const needsFormatOne = [...copied.keys()].some((name) => name.startsWith("extensions."));
  return [
    ["core.repositoryformatversion", needsFormatOne ? "1" : "0"],
    ["core.bare", "false"],
    ["core.logallrefupdates", "true"],
    ["gc.auto", "0"],
    ...DEFAULT_IDENTITY.filter(([name]) => !copied.has(name)),
    ...copied,
    ...remotes,
  ];
};

/** For commits that only transport files and never become part of a branch. */
export const SANDDUNE_IDENTITY = {
  GIT_AUTHOR_NAME: "sanddune",
  GIT_AUTHOR_EMAIL: "sanddune@sanddune.invalid",
  GIT_COMMITTER_NAME: "sanddune",
  GIT_COMMITTER_EMAIL: "sanddune@sanddune.invalid",
} as const;

/** The identity for merge commits of a user who has configured none. */
export const fallbackIdentity = (hostConfig: readonly ConfigEntry[]): Record<string, string> => {
  const has = (name: string) => hostConfig.some(([key]) => key === name);
  return has("user.name") && has("user.email") ? {} : SANDDUNE_IDENTITY;
};
