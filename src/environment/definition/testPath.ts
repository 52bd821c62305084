import { TestRequestError } from "../../errors.ts";
import { shorten } from "../../tools/shorten.ts";
import { MAX_PATH_LENGTH } from "../limits.ts";

/** Why a text cannot be the path of a test, as the end of a sentence; `undefined` if it can. */
export const testPathProblem = (path: string): string | undefined => {
  if (path === "") return "is empty";
  if (path.length > MAX_PATH_LENGTH) return `has more than ${MAX_PATH_LENGTH} characters`;
  if (/[\p{Cc}\p{Surrogate}\\]/u.test(path)) return "has a backslash or a control character";
  const segments = path.split("/");
  if (segments.includes("")) return 'begins or ends with "/", or has two of them in a row';
  if (segments.includes(".") || segments.includes("..")) return 'has a "." or ".." between its "/"';
  return undefined;
};

/** The error for a request of a path that no test can have. */
export const noTestPath = (path: string, problem: string): TestRequestError =>
  new TestRequestError(
    `${JSON.stringify(shorten(path, 100))} is not the path of a test: it ${problem}. Pass a path from GET /schema, or the beginning of several up to a "/".`,
    400,
  );

/** Whether a requested path selects a test: its own path, a prefix of it up to a "/", or the empty path. */
export const asksFor = (asked: string, test: string): boolean =>
  asked === "" || asked === test || test.startsWith(`${asked}/`);

/** How many paths are suggested for one that does not exist. */
const MAX_NEAREST = 10;

const sharedBeginning = (one: string, other: string): number => {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
};

/** The paths with the longest common beginning. */
export const nearestPaths = (asked: string, paths: readonly string[]): readonly string[] =>
  paths
    .map((path) => ({ path, shared: sharedBeginning(asked.toLowerCase(), path.toLowerCase()) }))
    .sort((one, other) => other.shared - one.shared)
    .slice(0, MAX_NEAREST)
    .map(({ path }) => path);
