import { expect, test } from "vitest";
import { atMostAdded, atMostTimes, fasterThanPeer, timeRow, within } from "../../bench/report/row.mjs";

const rowOf = (options: Partial<Parameters<typeof timeRow>[0]>) =>
  timeRow({ id: "x/total", name: "x", samples: { raw: [100, 110, 300], own: [130, 10, 140] }, ...options });

test("a row holds medians, their ratio, and whether the target is met", () => {
  expect(rowOf({ target: atMostTimes(1.15) })).toMatchObject({
    ...{ raw: "110 ms", peer: "", own: "130 ms", figure: "1.18x", target: "at most 1.15x", isMet: false },
    ratio: 130 / 110,
  });
  expect(rowOf({ target: atMostTimes(1.2) })).toMatchObject({ isMet: true });
});

test("a difference can have a limit in milliseconds, and the committed figure is still a ratio", () => {
  expect(rowOf({ target: atMostAdded(20) })).toMatchObject({
    figure: "+20 ms",
    isMet: true,
    ratio: 130 / 110,
  });
  expect(rowOf({ target: atMostAdded(19) })).toMatchObject({ isMet: false });
  expect(rowOf({ target: within(130) })).toMatchObject({ isMet: true });
});

test("the peer has a cell of its own, with its ratio to the raw commands", () => {
  const samples = { raw: [100], peer: [250], own: [50] };
  expect(rowOf({ samples, target: fasterThanPeer(5) })).toMatchObject({
    ...{ peer: "250 ms (2.50x)", figure: "5.0x as fast as the peer", isMet: true },
  });
});

test("a target that needs the peer is neither met nor missed without it", () => {
  expect(rowOf({ target: fasterThanPeer(5) })).toMatchObject({ figure: "1.18x", isMet: undefined });
  const samples = { raw: [100], peer: [], own: [50] };
  expect(rowOf({ samples, target: fasterThanPeer(5) })).toMatchObject({ peer: "failed", isMet: undefined });
});

test("a row without a target is there to be known", () => {
  expect(rowOf({})).toMatchObject({ figure: "1.18x", target: "", isMet: undefined });
});
