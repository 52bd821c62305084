import type { AgentProvider } from "../contract.ts";

/** An agent that can be chosen by name, on the command line or in a scaffold. */
export interface KnownAgent {
  /** The agent's name for people. */
  readonly title: string;
  /** The exported function that makes the provider. */
  readonly factory: string;
  /** A model that it is known to work with. */
  readonly exampleModel: string;
  /** How hard the model can think, from least to most; left out where that cannot be chosen. */
  readonly efforts?: readonly string[];
  create(model: string, settings?: { readonly effort?: string }): AgentProvider;
}
