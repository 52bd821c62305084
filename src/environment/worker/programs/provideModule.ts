/** Hooks of Node's module loader. They resolve one specifier to a file, because no installed package would. */
import type { InitializeHook, ResolveHook } from "node:module";

interface ProvidedModule {
  readonly specifier: string;
  readonly url: string;
}

let provided: ProvidedModule | undefined;

export const initialize: InitializeHook<ProvidedModule> = (data) => {
  provided = data;
};

export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === provided?.specifier
    ? { url: provided.url, format: "module", shortCircuit: true }
    : next(specifier, context);
