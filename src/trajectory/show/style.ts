import { STYLE } from "../../markup/style.ts";

/** The page of a trajectory looks like a report, with these additions. */
export const TRAJECTORY_STYLE = `${STYLE}
:root { --one: #1f6feb; --two: #b35900; --three: #8250df; --four: #0a7d7d; }
@media (prefers-color-scheme: dark) { :root { --one: #79b8ff; --two: #f0a35c; --three: #c8a6ff; --four: #5fd0d0; } }
.chart { margin: 1.25rem 0 1.5rem; overflow-x: auto; }
.chart svg { display: block; width: 100%; min-width: 640px; height: auto; }
.chart text { fill: var(--quiet); font-size: 12px; } .chart .middle { text-anchor: middle; } .chart .end { text-anchor: end; }
.chart path { fill: none; } .chart .rule { stroke: var(--line); } .chart .change { fill: var(--quiet); opacity: 0.6; }
.series-1 { --own: var(--one); } .series-2 { --own: var(--two); } .series-3 { --own: var(--three); } .series-4 { --own: var(--four); }
[class^="series-"] path { stroke: var(--own); stroke-width: 2; } [class^="series-"] circle { fill: var(--own); stroke: var(--paper); stroke-width: 1.5; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin: 0.25rem 0 0; padding: 0; font-size: 0.9rem; }
.chart .legend svg { display: inline-block; width: 22px; min-width: 0; height: 10px; vertical-align: middle; }
.steps td { font-size: 0.92rem; } .steps .what { overflow-wrap: anywhere; }
.steps tr.none, .steps tr.shared { color: var(--quiet); }
.step { padding: 1rem 0 0.25rem; } .step h2 { font-size: 1rem; font-weight: 600; } .step h2 code { font-weight: 400; }
h2[id^="iteration-"] { margin: 2rem 0 0.25rem; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.4rem 0; }
.patch .added { color: var(--passing); } .patch .removed { color: var(--failing); } .patch .place { color: var(--quiet); }
details > summary { cursor: pointer; } .step figure { margin-top: 0.4rem; }
`;
