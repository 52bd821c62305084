import { SandboxUnavailableError } from "../../errors.ts";
import { findVersion, isInRange } from "./packageVersion.ts";

/** A library that is spoken to an engine with: an optional peer of sanddune's. */
export interface Sdk<Module> {
  /** Names the sandbox provider in errors. */
  readonly provider: string;
  /** The package with its range, as it is installed: `name@^1.2.3`. */
  readonly install: string;
  /** The URL of the module that loads it. */
  readonly from: string;
  load(): Promise<Module>;
  /** Whether it is that library, and not another one of the same name. */
  isIt(module: Module): boolean;
}

/** Tells bundlers that a failure to load the library is dealt with: esbuild then bundles a program without it. */
export const notLoaded = (cause: unknown): never => {
  throw cause;
};

/** Loads a library; rejects with a `SandboxUnavailableError` that says how to install it. */
export const loadSdk = async <Module>({
  provider,
  install,
  from,
  load,
  isIt,
}: Sdk<Module>): Promise<Module> => {
  const unavailable = (problem: string) =>
    new SandboxUnavailableError(provider, problem, `Install it: npm install ${install}`);
  const module = await load().catch((cause: unknown) => {
    throw unavailable(`its SDK could not be loaded (${String(cause)})`);
  });
  const at = install.lastIndexOf("@");
  const [name, range] = [install.slice(0, at), install.slice(at + 1)];
  const version = await findVersion(name, from);
  if (!isIt(module)) {
    const which = version === undefined ? "" : `, version ${version},`;
    throw unavailable(
      `a package with the name of its SDK${which} is installed, but it is another one, or too old`,
    );
  }
  if (version === undefined || isInRange(version, range)) return module;
  throw unavailable(`its SDK is installed as ${name} ${version}, but ${range} is needed`);
};
