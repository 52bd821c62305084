/** `@missingstudio/sanddune/testing`: for authors of sandbox providers. */
export {
  type AnySandboxHandle,
  type ConformanceCase,
  type ConformanceSuite,
  type ConformanceTraits,
  sandboxConformance,
} from "./sandboxes/conformance.ts";
