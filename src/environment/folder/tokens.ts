/** White space and comments. The last comment may be unterminated. */
const SKIPPED = /(?:\s|\/\/[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*))+/y;
/** An unterminated string ends with its line. */
const STRING = /"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/y;
const WORD = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*|\d[\w.]*/uy;
/** Bounded, so that a hostile text cannot make the search slow. */
const REGULAR_EXPRESSION = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,200}\]){1,500}\/[a-z]*/y;
/** A piece of a template, up to its end or to an expression in it. */
const TEMPLATE = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(`|\$\{)/y;

/** After these words comes a value; after any other, and after `)`, `]` and `}`, a slash divides. */
const BEFORE_VALUE = /^(?:return|typeof|case|in|of|delete|void|throw|new|do|else|await|yield|instanceof)$/;

const endsValue = (token: string | undefined): boolean =>
  token !== undefined && /[\w$)\]}"'`]$/.test(token) && !BEFORE_VALUE.test(token);

/**
 * The tokens of a JavaScript or TypeScript text, precise enough for a search: strings, regular expressions and the pieces of
 * templates are one token each, so that their content is not taken for code.
 */
export const tokensOf = (text: string): readonly string[] => {
  const tokens: string[] = [];
  /** For each open brace, whether it belongs to an expression in a template. */
  const braces: boolean[] = [];
  let position = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    const found = pattern.exec(text)?.[0];
    position += found?.length ?? 0;
    return found;
  };
  const takeTemplate = () => {
    const piece = take(TEMPLATE);
    if (piece === undefined) position = text.length;
    else if (piece.endsWith("${")) braces.push(true);
    tokens.push(piece?.endsWith("${") ? "${" : "`");
  };
  while (position < text.length) {
    if (take(SKIPPED) !== undefined) continue;
    const character = text[position] as string;
    const token =
      take(STRING) ??
      take(WORD) ??
      (character === "/" && !endsValue(tokens.at(-1)) ? take(REGULAR_EXPRESSION) : undefined);
    if (token !== undefined) {
      tokens.push(token);
      continue;
    }
    position++;
    if (character === "`") takeTemplate();
    else if (character === "}" && braces.pop() === true) takeTemplate();
    else {
      if (character === "{") braces.push(false);
      tokens.push(character);
    }
  }
  return tokens;
};
