/** `sanddune/testing`: for authors of sandbox providers, and for tests of code that uses sanddune. */
export { type ConformanceCase, type ConformanceTraits, sandboxConformance } from "./sandboxes/conformance.ts";
export { testIsolated } from "./sandboxes/test-isolated.ts";
