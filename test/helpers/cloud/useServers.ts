import { afterAll, beforeAll, vi } from "vitest";
import "./vercelRoute.mjs";
import { type E2bServer, startE2bServer } from "./e2bServer.ts";
import { startVercelServer, type VercelServer } from "./vercelServer.ts";

const setEnv = (env: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
};

/** A stand-in for E2B, for the tests of a `describe`, with its credentials in the environment. */
export const useE2bServer = (): { readonly current: E2bServer } => {
  const holder: { current: E2bServer } = { current: undefined as never };
  beforeAll(async () => {
    holder.current = await startE2bServer();
    setEnv(holder.current.env);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await holder.current.close();
  });
  return holder;
};

/** A stand-in for Vercel, for the tests of a `describe`, with its credentials in the environment. */
export const useVercelServer = (): { readonly current: VercelServer } => {
  const holder: { current: VercelServer } = { current: undefined as never };
  beforeAll(async () => {
    holder.current = await startVercelServer();
    setEnv(holder.current.env);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await holder.current.close();
  });
  return holder;
};
