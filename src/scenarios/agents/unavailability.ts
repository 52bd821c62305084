import {
  AgentAuthenticationError,
  AgentNotFoundError,
  AgentOverloadedError,
  AgentRateLimitError,
  AgentUnavailableError,
} from "../../errors.ts";

/** What says nothing about the agent's work: it did not get to do it. */
const UNAVAILABLE = [
  AgentAuthenticationError,
  AgentRateLimitError,
  AgentOverloadedError,
  AgentUnavailableError,
];

const notFound = (error: AgentNotFoundError, isHost: boolean): string => {
  if (!isHost) return error.message;
  const { message } = new AgentNotFoundError(error.agent, error.program, undefined);
  return error.agent === "cursor" ? `${message} Its SDK will do as well: npm install @cursor/sdk` : message;
};

/** Why an agent could not be had, and what to do about it; `undefined` if it could, and has failed. */
export const unavailability = (error: unknown, isHost: boolean): string | undefined => {
  if (error instanceof AgentNotFoundError) return notFound(error, isHost);
  return UNAVAILABLE.some((type) => error instanceof type) ? (error as Error).message : undefined;
};
