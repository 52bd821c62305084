import { TestRequestError } from "../../errors.ts";
import { noTestPath, testPathProblem } from "../definition/testPath.ts";

/** What a request is for. */
export type Route =
  | { readonly type: "health" }
  | { readonly type: "schema" }
  | { readonly type: "run"; readonly path: string };

const METHODS = {
  health: ["GET", "HEAD"],
  schema: ["GET", "HEAD"],
  run: ["POST"],
} as const satisfies Record<Route["type"], readonly string[]>;

const REQUESTS = "GET /health, GET /schema, POST /run, POST /run/{test_path}";

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TestRequestError("The path of the request is not percent-encoded correctly.", 400);
  }
};

const testPathOf = (encoded: string): string => {
  const path = decoded(encoded);
  const problem = path === "" ? undefined : testPathProblem(path);
  if (problem !== undefined) throw noTestPath(path, problem);
  return path;
};

/** The path is not normalised first: one that leads upwards is refused, not followed. */
const findRoute = (path: string): Route | undefined => {
  if (path === "/health" || path === "/schema") return { type: path === "/health" ? "health" : "schema" };
  if (path === "/run") return { type: "run", path: "" };
  return path.startsWith("/run/") ? { type: "run", path: testPathOf(path.slice("/run/".length)) } : undefined;
};

/** What a request is for. Throws a `TestRequestError` if it is none of the known ones. */
export const routeOf = (method: string, url: string): Route => {
  const route = findRoute(url.split(/[?#]/, 1)[0] ?? "");
  if (route === undefined) throw new TestRequestError(`Unknown address; expected one of: ${REQUESTS}.`, 404);
  const methods: readonly string[] = METHODS[route.type];
  if (!methods.includes(method))
    throw new TestRequestError(
      `This address accepts ${methods.join(" or ")} only; expected one of: ${REQUESTS}.`,
      405,
    );
  return route;
};
