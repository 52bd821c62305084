import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { askingCaller } from "../../boundary/turns.ts";
import { type SandduneError, StructuredOutputError } from "../../errors.ts";
import type { OutputDefinition } from "../../options/output.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { isAgentsMistake, readOutput } from "./readOutput.ts";
import { TagReader } from "./tagReader.ts";

/** The prompt that asks the agent to correct its output. */
const correctionOf = ({ tag, problem }: StructuredOutputError): string =>
  `Your answer in <${tag}> is not valid: ${problem}.
Write the whole answer again, corrected, in <${tag}>…</${tag}>.`;

/** Reads the structured output from the agent's text, and counts its corrections. */
export class StructuredOutput {
  readonly #tag: TagReader;
  #retries: number;
  #value: { readonly value: unknown } | undefined;

  constructor(
    private readonly output: OutputDefinition,
    private readonly said: () => { readonly agentText: string; readonly redactor: Redactor },
  ) {
    this.#tag = new TagReader(output.tag);
    this.#retries = output.maxRetries ?? 0;
  }

  push(text: string): void {
    this.#tag.push(text);
    this.#value = undefined;
  }

  /** Call it at the end of an iteration's text. */
  endText(): void {
    this.#tag.endText();
  }

  /** The validated output. Fails with a `StructuredOutputError`. */
  readonly read: Effect.Effect<unknown, SandduneError> = Effect.suspend(() =>
    this.#value !== undefined
      ? Effect.succeed(this.#value.value)
      : interruptible(() =>
          askingCaller(() => readOutput(this.output, { found: this.#tag.found, ...this.said() })),
        ).pipe(
          Effect.tap((value) =>
            Effect.sync(() => {
              this.#value = { value };
            }),
          ),
        ),
  );

  /** The prompt for a correction, if the output is wrong and corrections are left. */
  readonly correction: Effect.Effect<string | undefined> = Effect.suspend(() => {
    if (this.#retries === 0) return Effect.succeed(undefined);
    return this.read.pipe(
      Effect.as(undefined),
      Effect.catch((error) =>
        Effect.sync(() => {
          if (!(error instanceof StructuredOutputError) || !isAgentsMistake(error)) return undefined;
          this.#retries--;
          return correctionOf(error);
        }),
      ),
    );
  });
}
