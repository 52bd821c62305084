import { SandboxUnavailableError } from "../../errors.ts";

/** The SDK of a service: an optional peer dependency. */
export interface Sdk<Module> {
  /** Names the sandbox provider in errors. */
  readonly provider: string;
  /** The package with its range, as npm installs it: `name@^1.2.3`. */
  readonly install: string;
  load(): Promise<Module>;
  /** Whether it has all that is used of it. A package of the same name, or another major version, has not. */
  isIt(module: Module): boolean;
}

/** Tells bundlers that a failure to load the SDK is handled: esbuild then bundles a program without it. */
export const notLoaded = (cause: unknown): never => {
  throw cause;
};

/** Loads an SDK; rejects with a `SandboxUnavailableError` that says how to install it. */
export const loadSdk = async <Module>({ provider, install, load, isIt }: Sdk<Module>): Promise<Module> => {
  const unavailable = (problem: string) =>
    new SandboxUnavailableError(provider, problem, `Install it: npm install ${install}`);
  const module = await load().catch((cause: unknown) => {
    throw unavailable(`its SDK could not be loaded (${String(cause)})`);
  });
  if (isIt(module)) return module;
  const name = install.slice(0, install.lastIndexOf("@"));
  throw unavailable(`the installed package ${name} is not its SDK, or is of another version`);
};
