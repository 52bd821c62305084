/** `sanddune/testing`: for authors of sandbox providers. */
export {
  type ConformanceCase,
  type ConformanceSuite,
  type ConformanceTraits,
  sandboxConformance,
} from "./sandboxes/conformance.ts";
