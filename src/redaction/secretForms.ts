/** Shorter values, and shorter parts of encoded ones, occur in too many harmless texts. */
export const MIN_SECRET_LENGTH = 8;
/** The line lengths of `base64` and of PEM files. */
const BASE64_LINE_LENGTHS = [76, 64] as const;

const lowerCaseCodes = (encoded: string): string =>
  encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

const percentCode = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** Encoders differ in which characters they encode: JavaScript's, Python's, and those of HTML forms. */
const urlEncoded = (value: string): string[] => {
  // Converted to bytes first, because half a surrogate pair cannot be encoded.
  const wellFormed = Buffer.from(value).toString();
  const component = encodeURIComponent(wellFormed);
  const strict = component.replace(/[!'()*]/g, percentCode);
  const forms = [
    component,
    strict,
    strict.replaceAll("%2F", "/"),
    strict.replaceAll("%20", "+"),
    encodeURI(wellFormed),
    new URLSearchParams([["", wellFormed]]).toString().slice(1),
  ];
  return [...forms, ...forms.map(lowerCaseCodes)];
};

const unicodeCode = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** As a JSON string: as JavaScript writes it, with additional escapes, and nested in another string. */
const jsonEncoded = (value: string): string[] => {
  const encoded = JSON.stringify(value).slice(1, -1);
  return [
    encoded,
    encoded.replaceAll("/", "\\/"),
    encoded.replace(/[\u007f-\uffff]/g, unicodeCode),
    JSON.stringify(encoded).slice(1, -1),
  ];
};

/** A value in Base64, `skipped` bytes after a group of three, without what depends on its neighbours. */
const base64At = (value: string, skipped: 0 | 1 | 2): string => {
  const bytes = Buffer.concat([Buffer.alloc(skipped), Buffer.from(value)]);
  const encoded = bytes.toString("base64").replace(/=+$/, "");
  const ownBegin = Math.ceil((skipped * 8) / 6);
  const ownEnd = bytes.length % 3 === 0 ? encoded.length : encoded.length - 1;
  return encoded.slice(ownBegin, ownEnd);
};

const pieces = (text: string, length: number): string[] =>
  text.length <= length
    ? []
    : Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
        text.slice(index * length, (index + 1) * length),
      );

const base64Encoded = (value: string): string[] => {
  const whole = base64At(value, 0);
  const forms = [
    // As from `printf %s` and `echo`. The other forms lack one or two characters at the end.
    ...[value, `${value}\n`].map((text) => Buffer.from(text).toString("base64")),
    whole,
    base64At(value, 1),
    base64At(value, 2),
    ...BASE64_LINE_LENGTHS.flatMap((length) => pieces(whole, length)),
  ];
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
};

/**
 * All forms of a secret: plain, each of its lines, as JSON, URL-encoded and in Base64. None contains a line end, so
 * that reading line by line cannot split one.
 */
export const secretForms = (value: string): Set<string> => {
  const lines = value.split(/\r?\n/).flatMap((line) => [line, line.trim()]);
  const encoded = [value, ...lines]
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .flatMap((text) => [...jsonEncoded(text), ...urlEncoded(text), ...base64Encoded(text)]);
  return new Set([...lines, ...encoded].filter(({ length }) => length >= MIN_SECRET_LENGTH));
};
