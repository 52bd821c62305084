/** The position after the closing quote of the string that begins at `start`. */
const endOfString = (json: string, start: number): number => {
  let end = json.indexOf('"', start + 1);
  for (;;) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end + 1;
    end = json.indexOf('"', end + 1);
  }
};

const STRUCTURE = /["{}[\],]/g;
const COLON = /\s*:/y;

/** Changes the strings and keys of a JSON text, except below a sealed key. All else stays the same. */
export const mapStrings = (
  json: string,
  sealedKeys: ReadonlySet<string>,
  change: (text: string) => string,
): string => {
  const parts: string[] = [];
  let copied = 0;
  let depth = 0;
  let isNextSealed = false;
  /** The nesting depth of the current sealed value. */
  let sealedDepth: number | undefined;
  for (let at = 0; ; ) {
    STRUCTURE.lastIndex = at;
    const found = STRUCTURE.exec(json);
    if (found === null) break;
    at = found.index + 1;
    switch (found[0]) {
      case '"': {
        const end = endOfString(json, found.index);
        COLON.lastIndex = end;
        const isKey = COLON.test(json);
        const text = JSON.parse(json.slice(found.index, end)) as string;
        const stays: boolean = sealedDepth !== undefined || (isNextSealed && !isKey);
        const changed: string = stays ? text : change(text);
        if (changed !== text) {
          parts.push(json.slice(copied, found.index), JSON.stringify(changed));
          copied = end;
        }
        isNextSealed = isKey && sealedDepth === undefined && sealedKeys.has(text);
        at = end;
        break;
      }
      case "{":
      case "[":
        depth++;
        if (isNextSealed) sealedDepth = depth;
        isNextSealed = false;
        break;
      case "}":
      case "]":
        if (depth === sealedDepth) sealedDepth = undefined;
        depth--;
        break;
      default:
        isNextSealed = false;
    }
  }
  parts.push(json.slice(copied));
  return parts.join("");
};
