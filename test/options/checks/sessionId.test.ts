import { expect, it } from "vitest";
import { isSessionId } from "../../../src/options/checks/sessionId.ts";

it.each([
  "9ffd7134-bc82-4d87-84f1-8145548622d1",
  "ses_e1f283db9ffejRaMn57OMzjedt",
  "a",
  "0",
  "x".repeat(100),
])("%s is a session id", (id) => {
  expect(isSessionId(id)).toBe(true);
});

it.each([
  "",
  ".",
  "..",
  "../../.ssh/id",
  "a/b",
  "a\\b",
  "-rf",
  "--help",
  "_a",
  ".hidden",
  "a.b",
  "*",
  "a*",
  "a?",
  "[a]",
  "{a,b}",
  "a b",
  "a\n",
  "a\nb",
  "\na",
  "a\0b",
  "$(id)",
  "a'b",
  "ä",
  "𝟗",
  "x".repeat(101),
])("%j is no session id: it could be another path, pattern, option or command", (id) => {
  expect(isSessionId(id)).toBe(false);
});
