import { afterAll, afterEach } from "vitest";
import { runtimeGuard } from "./runtimeGuard.ts";

/** For every test file, before its own code: see `RuntimeGuard`. */
const guard = runtimeGuard();
afterEach(() => guard.check());
afterAll(() => guard.check());
