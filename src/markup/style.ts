/** The style sheet of reports: a light and a dark theme, and a colour for each result. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fcfbf9; --card: #ffffff; --ink: #23201c; --quiet: #6a645b; --line: #e5e0d7; --link: #8a4b08;
  --passing: #17703f; --failing: #b3261e; --manual: #7a5b00; --never: #6a645b;
  --passing-soft: #e3f2e8; --failing-soft: #fbe6e3; --manual-soft: #f7edcf; --never-soft: #efece6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171614; --card: #1f1d1b; --ink: #e9e5de; --quiet: #a39c91; --line: #35322d; --link: #f0b45c;
    --passing: #6fcf97; --failing: #ff8a80; --manual: #e5c05a; --never: #a39c91;
    --passing-soft: #1b3325; --failing-soft: #43201d; --manual-soft: #3a3116; --never-soft: #2b2925;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%;
}
main { max-width: 1080px; margin: 0 auto; padding: 2.5rem 1.5rem 5rem; }
h1 { font-size: 1.6rem; line-height: 1.2; letter-spacing: -0.02em; margin: 0 0 1.25rem; }
h2 { font-size: 1.2rem; line-height: 1.3; letter-spacing: -0.01em; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 0.95rem; font-weight: 500; margin: 0 0 0.6rem; }
p { margin: 0.5rem 0; }
a { color: var(--link); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
code, pre { font-family: ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, monospace; font-size: 0.85em; }
.quiet, caption, figcaption, dt { color: var(--quiet); font-size: 0.87rem; }
.number { text-align: right; white-space: nowrap; }
.whole { white-space: nowrap; }
.break { overflow-wrap: anywhere; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.badge {
  display: inline-block; padding: 0 0.55em; border-radius: 1em; white-space: nowrap;
  font-size: 0.82rem; line-height: 1.6; font-weight: 600;
}
.badge.passing { color: var(--passing); background: var(--passing-soft); }
.badge.failing { color: var(--failing); background: var(--failing-soft); }
.badge.manual { color: var(--manual); background: var(--manual-soft); }
.badge.never { color: var(--never); background: var(--never-soft); }
rect.passing { fill: var(--passing); } rect.failing { fill: var(--failing); }
rect.manual { fill: var(--manual); } rect.never { fill: var(--never); }
.bars { display: block; max-width: 100%; }
path.passing { stroke: var(--passing); opacity: 0.7; } path.failing { stroke: var(--failing); }
.errors { border: 1px solid var(--failing); border-radius: 8px; background: var(--failing-soft); padding: 0.75rem 1rem; margin: 0 0 1.5rem; }
.errors ul { margin: 0.5rem 0 0; padding: 0 0 0 1.2rem; } .errors strong { overflow-wrap: anywhere; }
.counts { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; margin: 0; padding: 0; }
.counts strong { font-size: 2rem; line-height: 1.2; letter-spacing: -0.02em; margin-right: 0.15em; }
.counts .failing { color: var(--failing); } .counts .passing { color: var(--passing); }
.counts .manual { color: var(--manual); } .counts .never { color: var(--never); }
.shares { display: block; width: 100%; height: 6px; border-radius: 3px; margin: 0.6rem 0 0.75rem; }
.filter { border: 0; margin: 1.5rem 0 0.5rem; padding: 0; display: none; flex-wrap: wrap; gap: 0.25rem 1rem; font-size: 0.9rem; }
@supports selector(:has(*)) { .filter { display: flex; } }
.filter label { display: inline-flex; align-items: center; gap: 0.35em; min-height: 1.75rem; cursor: pointer; }
.filter input { accent-color: var(--link); margin: 0; }
main:has(#show-failing:checked) [data-result]:not([data-result="failing"]),
main:has(#show-passing:checked) [data-result]:not([data-result="passing"]),
main:has(#show-manual:checked) [data-result]:not([data-result="manual"]),
main:has(#show-never:checked) [data-result]:not([data-result="never"]) { display: none; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; padding: 0 0 0.25rem; font-weight: 600; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-top: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { border-top: 0; color: var(--quiet); font-size: 0.82rem; font-weight: 500; }
th.number, td.number { text-align: right; }
td.failing { color: var(--failing); font-weight: 600; }
.grid { margin-bottom: 3rem; }
.grid tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 9rem; }
.grid tbody th a { color: inherit; text-decoration-color: var(--line); }
.grid tbody th a:hover { text-decoration-color: currentColor; }
.grid tbody th code { display: block; color: var(--quiet); font-weight: 400; }
.grid td { font-size: 0.92rem; } .grid .bars { margin-top: 0.15rem; }
/* Laid out when it comes into view: the page is there at once, however long the history is. */
section { content-visibility: auto; contain-intrinsic-size: auto 500px; }
section { border-top: 1px solid var(--line); padding: 1.5rem 0 1rem; }
section:target h2 { text-decoration: underline; text-decoration-color: var(--link); text-underline-offset: 0.3em; }
section header p { margin: 0.1rem 0 0.75rem; overflow-wrap: anywhere; }
.runner { margin: 0 0 1.5rem; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2.25rem; margin: 0 0 0.75rem; } dd { margin: 0; font-size: 0.92rem; }
.executions { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--card); overflow: hidden; }
.executions > li { position: relative; border-top: 1px solid var(--line); }
.executions > li:first-child { border-top: 0; }
.line {
  display: grid; grid-template-columns: 6.5rem 10.5rem 4.5rem 6rem minmax(0, 1fr); gap: 0 0.9rem; align-items: baseline;
  padding: 0.35rem 5.5rem 0.35rem 1.9rem; font-size: 0.9rem; overflow-wrap: anywhere; position: relative;
}
.line .badge { justify-self: start; }
summary.line { cursor: pointer; list-style: none; }
summary.line::-webkit-details-marker { display: none; }
summary.line::before { content: "›"; position: absolute; left: 0.8rem; line-height: 1.4; top: 0.3rem; color: var(--quiet); font-weight: 700; }
details[open] > summary.line::before { transform: rotate(90deg); }
summary.line:hover { background: var(--never-soft); }
summary.line:focus-visible { outline-offset: -2px; }
.ci { position: absolute; right: 0.9rem; top: 0.35rem; font-size: 0.87rem; }
.inside { padding: 0.5rem 0.9rem 0.75rem 1.9rem; border-top: 1px solid var(--line); }
.inside table { margin: 0.5rem 0 1rem; font-size: 0.9rem; }
.notes { white-space: pre-wrap; overflow-wrap: anywhere; }
.outputs td { border-top: 0; padding-top: 0; }
figure { margin: 0 0 0.5rem; }
pre {
  margin: 0.1rem 0 0; padding: 0.5rem 0.7rem; background: var(--paper); border: 1px solid var(--line); border-radius: 6px;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 22rem; overflow: auto;
}
@media (min-width: 701px) { .by { white-space: nowrap; } }
@media (max-width: 700px) {
  main { padding: 1.5rem 1rem 3rem; }
  .wide { display: none; }
  .counts { gap: 0 1.25rem; } .counts strong { font-size: 1.6rem; }
  .line { grid-template-columns: 5.75rem 1fr auto; padding-right: 0.9rem; }
  .line > :nth-child(4) { grid-column: 1; } .line > :nth-child(5) { grid-column: 2 / -1; }
  .ci { position: static; display: inline-block; padding: 0 0.9rem 0.5rem 1.9rem; }
  .inside { padding-left: 0.9rem; }
  th, td { padding-right: 0.5rem; }
}
@media print { .filter { display: none; } .executions { break-inside: auto; } }
`;
