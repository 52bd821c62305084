import { TestRequestError } from "../../errors.ts";
import { noTestPath, testPathProblem } from "../definition/testPath.ts";

/** What a request is for. */
export type Route =
  | { readonly type: "health" }
  | { readonly type: "schema" }
  | { readonly type: "run"; readonly path: string }
  | { readonly type: "sessions" }
  | { readonly type: "session"; readonly session: string };

/** The methods of each. */
const METHODS = {
  health: ["GET", "HEAD"],
  schema: ["GET", "HEAD"],
  run: ["POST"],
  sessions: ["POST"],
  session: ["DELETE"],
} as const satisfies Record<Route["type"], readonly string[]>;

const KNOWN =
  "GET /health, GET /schema, POST /run, POST /run/{test_path}, POST /sessions, DELETE /sessions/{id}";

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TestRequestError("The path of the request is not percent-encoded as it should be.", 400);
  }
};

const testPathOf = (encoded: string): string => {
  const path = decoded(encoded);
  const problem = path === "" ? undefined : testPathProblem(path);
  if (problem !== undefined) throw noTestPath(path, problem);
  return path;
};

/** No path is tidied up before it is looked at: what leads upwards is refused, not followed. */
const findRoute = (path: string): Route | undefined => {
  if (path === "/health" || path === "/schema") return { type: path === "/health" ? "health" : "schema" };
  if (path === "/run") return { type: "run", path: "" };
  if (path.startsWith("/run/")) return { type: "run", path: testPathOf(path.slice("/run/".length)) };
  if (path === "/sessions") return { type: "sessions" };
  const [, session] = /^\/sessions\/([^/]+)$/.exec(path) ?? [];
  return session === undefined ? undefined : { type: "session", session: decoded(session) };
};

/** What a request is for. Throws a `TestRequestError` if it is for nothing that there is. */
export const routeOf = (method: string, url: string): Route => {
  const route = findRoute(url.split(/[?#]/, 1)[0] ?? "");
  if (route === undefined) throw new TestRequestError(`There is no such address. There are: ${KNOWN}.`, 404);
  const methods: readonly string[] = METHODS[route.type];
  if (!methods.includes(method))
    throw new TestRequestError(`This takes ${methods.join(" or ")} only. There are: ${KNOWN}.`, 405);
  return route;
};
