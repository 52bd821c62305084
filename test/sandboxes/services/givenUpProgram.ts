/**
 * What a process of its own does with a service that accepts its requests and does not answer, while garbage is collected.
 * Argv: the service. Prints how each question was given up, as JSON, and has to end by itself.
 */
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { findLeftovers } from "../../../src/sandboxes/registry.ts";
import { vercel } from "../../../src/sandboxes/vercel.ts";

const [, , service = ""] = process.argv;
const PROVIDERS = { e2b, vercel, modal };
const NAMES = { runId: "given-up", sandboxName: "given-up", repositoryPath: "/" };

const limits = { requestTimeoutMs: 400, createTimeoutMs: 700 };
const provider = PROVIDERS[service as keyof typeof PROVIDERS](limits);

const aborting = (): AbortSignal => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("never mind")), 300);
  return controller.signal;
};

const { create } = provider;

const QUESTIONS: Readonly<Record<string, () => Promise<unknown> | undefined>> = {
  preflight: () => provider.preflight?.({ repositoryPath: "/" }),
  "preflight that is aborted": () =>
    PROVIDERS[service as keyof typeof PROVIDERS]().preflight?.({ repositoryPath: "/", signal: aborting() }),
  create: () => create({ ...NAMES, sandboxName: "unanswered" }),
  "create that is aborted": () => create({ ...NAMES, signal: aborting() }),
  "clean that is aborted": async () => {
    const place = service === "modal" ? { place: "sanddune" } : {};
    return (await findLeftovers(service))?.find({ ...NAMES, ...place, temporaryDirectory: "/" }, aborting());
  },
};

const collecting = setInterval(() => globalThis.gc?.(), 20);
const outcomes = Object.entries(QUESTIONS).map(async ([what, ask]) => {
  const error = await ask()?.then(
    () => new Error("there was an answer"),
    (reason: Error) => reason,
  );
  return [what, `${error?.name}: ${error?.message}`] as const;
});
const given = Object.fromEntries(await Promise.all(outcomes));
clearInterval(collecting);
console.log(JSON.stringify(given));
