import { randomUUID } from "node:crypto";
import type { ScriptedUsage } from "../script.ts";
import type { ModelRequestBody, ToolCall } from "../tools.ts";

/** What the model says in answer to one request. */
export interface Answer {
  readonly model: string;
  readonly thinking: string | undefined;
  readonly text: string | undefined;
  readonly calls: readonly ToolCall[];
  readonly usage: ScriptedUsage;
}

/** The stream that an answer goes to. */
export interface AnswerStream {
  send(data: unknown, event?: string): void;
  /** Emits text in pieces. */
  text(whole: string, emit: (piece: string) => void): Promise<void>;
}

/** How one kind of model API writes what the model says. */
export interface Dialect {
  readonly name: "anthropic" | "responses" | "chat" | "gemini";
  /** Whether a request to this path asks for an answer. */
  matches(path: string): boolean;
  wantsStream(path: string, body: ModelRequestBody): boolean;
  error(status: number, message: string): unknown;
  whole(answer: Answer): unknown;
  stream(answer: Answer, to: AnswerStream): Promise<void>;
}

export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 24)}`;

export const secondsNow = (): number => Math.floor(Date.now() / 1000);

/** By code point, so that no pair of surrogates is torn apart. */
export const piecesOf = (text: string): string[] => text.match(/[\s\S]{1,24}/gu) ?? [];
