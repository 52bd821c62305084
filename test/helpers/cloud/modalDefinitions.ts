import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";

/** What a handler is told about a call. */
export interface CallContext {
  readonly metadata: { get(name: string): string | undefined };
  readonly signal: AbortSignal;
}

export type Handler = (request: never, context: CallContext) => unknown;

interface ServiceDefinition {
  readonly methods: Readonly<Record<string, { readonly responseStream: boolean }>>;
}

interface GrpcServer {
  add(definition: ServiceDefinition, implementation: Readonly<Record<string, Handler>>): void;
  listen(address: string): Promise<number>;
  forceShutdown(): void;
}

interface NiceGrpc {
  createServer(): GrpcServer;
  readonly ServerError: new (code: number, details: string) => Error;
}

interface ModalDefinitions {
  readonly controlPlane: ServiceDefinition;
  readonly commandRouter: ServiceDefinition;
  readonly grpc: NiceGrpc;
}

/**
 * The services that the SDK speaks to, as the SDK itself defines them. The package has them inside and exports them not, so
 * its text is evaluated here with another ending.
 */
export const loadModalDefinitions = (): ModalDefinitions => {
  const file = createRequire(import.meta.url).resolve("modal");
  const require = createRequire(file);
  const ending =
    "return { controlPlane: ModalClientDefinition, commandRouter: TaskCommandRouterDefinition };";
  const evaluate = compileFunction(
    `${readFileSync(file, "utf8")}\n${ending}`,
    ["require", "module", "exports"],
    {
      filename: file,
    },
  );
  const services = evaluate(require, { exports: {} }, {}) as Omit<ModalDefinitions, "grpc">;
  return { ...services, grpc: require("nice-grpc") as NiceGrpc };
};
