import { type Markup, markup } from "./markup.ts";
import { showTime } from "./words.ts";

export const moment = (time: string): Markup =>
  markup`<time datetime="${new Date(time).toISOString()}">${showTime(time)}</time>`;
