/** Strings, templates, comments, names, and everything else one character at a time. All lengths are bounded. */
const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]{0,20000}?\*\/|"(?:[^"\\\n]|\\[\s\S]){0,1000}"|'(?:[^'\\\n]|\\[\s\S]){0,1000}'|`(?:[^`\\]|\\[\s\S]){0,5000}`|[\p{ID_Start}$_#][\p{ID_Continue}$]*|\d[\w.]*|=>|[\s\S]/gu;
const REGEX = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.){0,200}\]){1,1000}\/\w*/y;

const GROUPS = ["describe", "suite"];
const TESTS = ["test", "it"];
/** Such a test reports no result. */
const LEFT_OUT = ["skip", "todo"];
const NEVER_CLOSED = "";

/** The content of a bracket: a list of tests, a call that may contain one, or anything else. */
interface Bracket {
  readonly kind: "tests" | "call" | "other";
  readonly names: readonly string[];
}

/** The name of a test, if it is a literal. */
const literal = (token: string | undefined): string | undefined => {
  if (token === undefined || !/^["'`]/.test(token) || token.includes("${")) return undefined;
  return token
    .slice(1, -1)
    .replace(
      /\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\}|(\r?\n)|([\s\S]))/gi,
      (_, x, u, point, end, other) => {
        const code = x ?? u ?? point;
        if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
        return end !== undefined ? "" : ({ n: "\n", t: "\t", r: "\r" }[other as string] ?? other);
      },
    );
};

/** After a value, a slash is a division; after anything else, it starts a regular expression. */
const endsValue = (token: string): boolean =>
  /^(?:[\p{ID_Continue}$_#)\]"'`])/u.test(token) &&
  !/^(?:return|typeof|case|in|of|await|yield|void|delete)$/.test(token);

const tokensOf = (source: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(source); match !== null; match = TOKEN.exec(source)) {
    let [token] = match;
    if (/^(?:\s|\/[/*])/.test(token)) continue;
    if (token === "/" && !endsValue(tokens.at(-1) ?? "")) {
      REGEX.lastIndex = match.index;
      const regex = REGEX.exec(source)?.[0];
      if (regex !== undefined) {
        TOKEN.lastIndex = match.index + regex.length;
        // A string instead: it is a value, too, and never a name.
        token = '""';
      }
    }
    tokens.push(token);
  }
  return tokens;
};

/** The words after a name and before its bracket: `skip` of `test.skip(`. */
const modifiersAt = (tokens: readonly string[], start: number): { words: string[]; end: number } => {
  const words: string[] = [];
  let end = start;
  while (tokens[end] === "." && tokens[end + 1] !== undefined) {
    words.push(tokens[end + 1] as string);
    end += 2;
  }
  return { words, end };
};

/**
 * The tests in a JavaScript or TypeScript file, each by its names, outermost first: those with a literal name, at the top of the
 * file or in a group. The file is only read, so that the code that it imports has no influence.
 */
export const scanTests = (source: string): string[][] => {
  const found: string[][] = [];
  const tokens = tokensOf(source);
  const brackets: Bracket[] = [{ kind: "tests", names: [] }];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as string;
    const before = tokens[index - 1] ?? NEVER_CLOSED;
    const around = brackets.at(-1) as Bracket;
    if (token === "(" || token === "[" || token === "{") {
      const isBody = token === "{" && around.kind === "call" && (before === "=>" || before === ")");
      brackets.push({ kind: isBody ? "tests" : "other", names: around.names });
    } else if (token === ")" || token === "]" || token === "}") {
      if (brackets.length > 1) brackets.pop();
    } else if (around.kind === "tests" && before !== "." && [...GROUPS, ...TESTS].includes(token)) {
      const { words, end } = modifiersAt(tokens, index + 1);
      const name = tokens[end] === "(" ? literal(tokens[end + 1]) : undefined;
      if (name === undefined || words.some((word) => LEFT_OUT.includes(word))) continue;
      const names = [...around.names, name];
      if (TESTS.includes(token)) found.push(names);
      brackets.push({ kind: GROUPS.includes(token) ? "call" : "other", names });
      index = end + 1;
    }
  }
  return found;
};
