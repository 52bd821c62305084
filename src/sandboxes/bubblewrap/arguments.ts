import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import type { SandboxMount } from "../contract.ts";

/**
 * The files of the host's /etc that a sandbox sees: programs need them to resolve names, find libraries and check
 * certificates. None holds a secret, and no directory may.
 */
export const VISIBLE_ETC: readonly string[] = [
  "alternatives",
  "bash.bashrc",
  "ca-certificates",
  "crypto-policies/back-ends",
  "debian_version",
  "fonts",
  "gai.conf",
  "group",
  "host.conf",
  "hosts",
  "inputrc",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "pki/ca-trust/extracted",
  "pki/tls/certs",
  "protocols",
  "resolv.conf",
  "services",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
];

/** Directories at the root that are links into /usr on merged systems, and real ones elsewhere. */
export const ROOT_DIRECTORIES: readonly string[] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/** How a directory at the host's root looks: the target of a link, or a directory. */
export type RootDirectory =
  | { readonly name: string; readonly linkTarget: string }
  | { readonly name: string; readonly linkTarget?: undefined };

export interface BubblewrapPlan {
  readonly sandboxName: string;
  readonly rootDirectories: readonly RootDirectory[];
  /** Host directories that become /tmp and HOME. */
  readonly temporaryPath: string;
  readonly homeHostPath: string;
  /** Where HOME is, in the sandbox. */
  readonly homePath: string;
  readonly path: string;
  /** Further programs on PATH, with the paths at which they are visible. */
  readonly programs?: ReadonlyMap<string, string>;
  readonly network: boolean;
  /** The user in the sandbox; the one of the host when it is left out. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly readOnlyPaths: readonly string[];
  /** In this order: later mounts lie over earlier ones. */
  readonly mounts: readonly SandboxMount[];
  /** The command has a terminal of its own. */
  readonly terminal: boolean;
}

/** The sandbox's directory with links to the user's own programs. */
export const PROGRAMS_PATH = "/sanddune/bin";

/** The host's programs and libraries, read-only. */
export const rootArguments = (rootDirectories: readonly RootDirectory[]): string[] => [
  "--ro-bind",
  "/usr",
  "/usr",
  ...rootDirectories.flatMap(({ name, linkTarget }) =>
    linkTarget === undefined ? ["--ro-bind", `/${name}`, `/${name}`] : ["--symlink", linkTarget, `/${name}`],
  ),
];

/** The arguments for `bwrap`, up to where the argv to be run begins. */
export const bubblewrapArguments = (plan: BubblewrapPlan): string[] => [
  "--unshare-all",
  ...(plan.network ? ["--share-net"] : []),
  ...(plan.user ? ["--uid", String(plan.user.uid), "--gid", String(plan.user.gid)] : []),
  "--die-with-parent",
  // Without its own session, a process could type into sanddune's terminal; with one, the keys of a terminal that was made
  // for it would not reach it.
  ...(plan.terminal ? [] : ["--new-session"]),
  "--cap-drop",
  "ALL",
  "--hostname",
  "sanddune",
  "--clearenv",
  ...Object.entries({
    PATH: plan.path,
    HOME: plan.homePath,
    LANG: "C.UTF-8",
    [SANDBOX_VARIABLE]: plan.sandboxName,
  }).flatMap(([name, value]) => ["--setenv", name, value]),
  ...rootArguments(plan.rootDirectories),
  ...VISIBLE_ETC.flatMap((entry) => ["--ro-bind-try", `/etc/${entry}`, `/etc/${entry}`]),
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--bind",
  plan.temporaryPath,
  "/tmp",
  "--symlink",
  "../tmp",
  "/var/tmp",
  ...plan.readOnlyPaths.flatMap((path) => ["--ro-bind", path, path]),
  ...[...(plan.programs ?? [])].flatMap(([name, path]) => ["--symlink", path, `${PROGRAMS_PATH}/${name}`]),
  "--bind",
  plan.homeHostPath,
  plan.homePath,
  ...plan.mounts.flatMap(({ hostPath, sandboxPath, readOnly }) => [
    readOnly ? "--ro-bind" : "--bind",
    hostPath,
    sandboxPath,
  ]),
  // Files outside of the mounts would be lost with the command, so writing there has to fail.
  "--remount-ro",
  "/",
  "--chdir",
  "/",
];
