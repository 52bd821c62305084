import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { askingCaller } from "../../boundary/turns.ts";
import { type SandduneError, StructuredOutputError } from "../../errors.ts";
import type { OutputDefinition } from "../../options/output.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { isAgentsMistake, readOutput } from "./readOutput.ts";
import { TagReader } from "./tagReader.ts";

/** The prompt for an agent whose answer could not be used. */
const correctionOf = ({ tag, problem }: StructuredOutputError): string =>
  `Your answer in <${tag}> cannot be used: ${problem}.
Write the whole answer again, corrected, in <${tag}>…</${tag}>.`;

/** What the agent is to say in a tag of its text, and how often it may correct that. */
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

  /** The text of an iteration is over. */
  endText(): void {
    this.#tag.endText();
  }

  /** The answer as its schema has it. Fails with a `StructuredOutputError`. */
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

  /** What the agent is to be told, if its answer is wrong and it may correct it. */
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
