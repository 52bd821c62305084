import { expect, it } from "vitest";
import { BoundedCapture } from "../../src/tools/boundedCapture.ts";
import { seededRandom } from "../helpers/seededRandom.ts";

const PIECES = ["a", "line\n", "ä", "€", "🙂", "x".repeat(700), "é".repeat(9000)];

/** The last bytes of a text, without the rest of a character at their beginning. */
const endOf = (text: string, maxBytes: number): string => {
  const bytes = Buffer.from(text);
  let start = Math.max(0, bytes.length - maxBytes);
  while (start > 0 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
};

it.each([1, 10, 1000, 60_000, 1_000_000])(
  "keeps the last %i bytes of texts and bytes, in order",
  (maxBytes) => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(seed);
      const capture = new BoundedCapture(maxBytes);
      let all = "";
      for (let count = random(300); count >= 0; count--) {
        const piece = PIECES[random(PIECES.length)] as string;
        all += piece;
        if (random(4) === 0) capture.push(Buffer.from(piece));
        else capture.pushText(piece);
        if (random(50) === 0) expect(capture.text()).toBe(endOf(all, maxBytes));
      }
      expect(capture.text(), `seed ${seed}`).toBe(endOf(all, maxBytes));
      expect(capture.truncated, `seed ${seed}`).toBe(Buffer.byteLength(all) > maxBytes);
    }
  },
);
