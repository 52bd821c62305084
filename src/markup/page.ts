import { createHash } from "node:crypto";
import { Markup, markup } from "./markup.ts";

/** A page that is one HTML file and needs nothing else: no network, no script. */
export interface Page {
  readonly title: string;
  /** An element that tells which program has made the file. */
  readonly mark: string;
  readonly style: string;
  readonly body: Markup;
}

/** The browser loads nothing and executes nothing: an agent's output stays text, even after a mistake of ours. */
const policyFor = (style: string): string =>
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'`;

export const htmlPage = ({ title, mark, style, body }: Page): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policyFor(style))}">
${new Markup(mark)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body id="top">
<main>
${body}
</main>
</body>
</html>
`.text;
