// One row of the table: the contestants, how they compare, and the target.
import { median } from "../machine/measure.mjs";

const milliseconds = (value) => `${Math.round(value)} ms`;
const times = (value) => `${value.toFixed(2)}x`;
const added = (value) => `${value < 0 ? "−" : "+"}${Math.round(Math.abs(value))} ms`;

/** Targets of times: each says how the difference is written, and whether it is met. */
export const atMostTimes = (limit, note = "") => ({
  text: `at most ${limit}x${note}`,
  figure: ({ rawMs, ownMs }) => times(ownMs / rawMs),
  isMet: ({ rawMs, ownMs }) => ownMs <= rawMs * limit,
});

export const atMostAdded = (limitMs) => ({
  text: `at most +${limitMs} ms`,
  figure: ({ rawMs, ownMs }) => added(ownMs - rawMs),
  isMet: ({ rawMs, ownMs }) => ownMs - rawMs <= limitMs,
});

export const within = (limitMs) => ({
  text: `within ${limitMs} ms`,
  figure: ({ rawMs, ownMs }) => times(ownMs / rawMs),
  isMet: ({ ownMs }) => ownMs <= limitMs,
});

export const fasterThanPeer = (factor) => ({
  text: `${factor}x as fast as the peer`,
  figure: ({ rawMs, ownMs, peerMs }) =>
    peerMs === undefined ? times(ownMs / rawMs) : `${(peerMs / ownMs).toFixed(1)}x as fast as the peer`,
  isMet: ({ ownMs, peerMs }) => (peerMs === undefined ? undefined : ownMs * factor <= peerMs),
});

/** A row that is there to be known. */
export const noTarget = {
  text: "",
  figure: ({ rawMs, ownMs }) => times(ownMs / rawMs),
  isMet: () => undefined,
};

const peerCell = (samples, rawMs) => {
  if (samples === undefined) return "";
  if (samples.length === 0) return "failed";
  return `${milliseconds(median(samples))} (${times(median(samples) / rawMs)})`;
};

/** A row of times. `against` says what sanddune is compared with, where that is not raw commands. */
export const timeRow = ({ id, name, samples, target = noTarget, against }) => {
  const figures = {
    rawMs: median(samples.raw),
    ownMs: median(samples.own),
    ...(samples.peer?.length > 0 && { peerMs: median(samples.peer) }),
  };
  return {
    id,
    name,
    raw: against === undefined ? milliseconds(figures.rawMs) : `${milliseconds(figures.rawMs)} (${against})`,
    peer: peerCell(samples.peer, figures.rawMs),
    own: milliseconds(figures.ownMs),
    figure: target.figure(figures),
    target: target.text,
    isMet: target.isMet(figures),
    ratio: figures.ownMs / figures.rawMs,
    samples,
  };
};

/** A row of counts, e.g. processes or megabytes. `noise` is the difference that means nothing. */
export const countRow = ({ id, name, raw, peer, own, limit, target, unit = "", noise, digits = 0 }) => {
  const cell = (count) => (count === undefined ? "" : `${count.toFixed(digits)}${unit}`);
  return {
    id,
    name,
    raw: cell(raw),
    peer: cell(peer),
    own: cell(own),
    figure: cell(own),
    target: target ?? (limit === undefined ? "" : `at most ${limit}${unit}`),
    isMet: limit === undefined ? undefined : own <= limit,
    ratio: own,
    ...(noise !== undefined && { noise }),
  };
};
