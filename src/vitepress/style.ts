/**
 * Part of the components, so that a site need not import a style sheet. The colours are those of VitePress, and
 * follow its light and dark modes.
 */
export const STYLE = `
.sanddune-records { font-size: 14px; font-variant-numeric: tabular-nums; margin: 16px 0; }
.sanddune-records .scroll { overflow-x: auto; }
.sanddune-records table { display: table; width: 100%; margin: 8px 0; }
.sanddune-records tr, .sanddune-records tr:nth-child(2n) { background: transparent; }
.sanddune-records th, .sanddune-records td {
  padding: 6px 10px; border: 0; border-top: 1px solid var(--vp-c-divider); line-height: 20px; min-width: 0; vertical-align: top;
}
.sanddune-records tr.details, .sanddune-records tr.details td { border-top: 0; padding-top: 0; }
.sanddune-records td.name { min-width: 12em; overflow-wrap: anywhere; }
.sanddune-records td.whole { white-space: nowrap; }
.sanddune-records details, .sanddune-records pre, .sanddune-records .notes { overflow-wrap: anywhere; }
.sanddune-records .quiet { color: var(--vp-c-text-2); }
.sanddune-records p { margin: 8px 0; line-height: 20px; }
.sanddune-records .badge { border-radius: 10px; padding: 1px 8px; font-size: 12px; font-weight: 600; white-space: nowrap; }
.sanddune-records .badge.passing { color: var(--vp-c-success-1, var(--vp-c-green-1)); background: var(--vp-c-success-soft, var(--vp-c-green-soft)); }
.sanddune-records .badge.failing { color: var(--vp-c-danger-1); background: var(--vp-c-danger-soft); }
.sanddune-records .badge.manual { color: var(--vp-c-warning-1); background: var(--vp-c-warning-soft); }
.sanddune-records .badge.never { color: var(--vp-c-text-2); background: var(--vp-c-default-soft); }
.sanddune-records details { margin: 0; }
.sanddune-records summary { cursor: pointer; color: var(--vp-c-text-2); margin: 0; }
.sanddune-records .outputs { margin: 4px 0 12px; }
.sanddune-records pre {
  margin: 4px 0; padding: 8px 10px; border-radius: 6px; background: var(--vp-c-bg-alt); color: var(--vp-c-text-1);
  font-size: 12px; line-height: 18px; white-space: pre-wrap; max-height: 320px; overflow: auto;
}
.sanddune-records .notes { white-space: pre-wrap; }
@media (max-width: 640px) { .sanddune-records th, .sanddune-records td { padding-left: 4px; padding-right: 4px; } }
`;
