import { describe, expect, it } from "vitest";
import { allSecrets, type ParentSession } from "../../../src/engine/plan/parentSession.ts";

/** What a worktree remembers, and what its sessions get to know. */
const worktree = (initial: Record<string, string> = {}) => {
  const parentSession = { secrets: new Map(Object.entries(initial)) } as ParentSession;
  return {
    remembered: parentSession.secrets,
    /** A session with these secrets: gives what it has to redact, by name. */
    session: (secrets: Record<string, string>) =>
      Object.fromEntries(allSecrets(new Map(Object.entries(secrets)), parentSession)),
  };
};

describe("the secrets of those who were in a worktree before", () => {
  it("are redacted by those who come later, who have others or none", () => {
    const { session } = worktree({ TOKEN: "one" });
    expect(session({})).toEqual({ TOKEN: "one" });
    expect(session({ KEY: "two" })).toEqual({ KEY: "two", TOKEN: "one" });
    expect(session({})).toEqual({ TOKEN: "one", KEY: "two" });
  });

  it("are known by another name when they have changed", () => {
    const { session } = worktree({ TOKEN: "one" });
    expect(session({ TOKEN: "two" })).toEqual({ TOKEN: "two", "TOKEN (an earlier value)": "one" });
  });

  it("are not listed twice when another one has the same value", () => {
    const { session } = worktree({ TOKEN: "one" });
    expect(session({ SAME: "one" })).toEqual({ SAME: "one" });
  });

  it.each<[string, Record<string, string>[]]>([
    ["changes every time", [{ T: "1" }, { T: "2" }, { T: "3" }, { T: "4" }]],
    ["changes back", [{ T: "1" }, { T: "2" }, { T: "1" }, { T: "3" }]],
    ["moves to another name, and back", [{ T: "1" }, { U: "1", T: "2" }, { T: "1", U: "2" }, {}]],
    ["is left out, and comes back changed", [{ T: "1" }, {}, { T: "2" }, {}, { T: "3" }, { T: "2" }]],
    ["is shared by two names that part", [{ T: "1", U: "1" }, { T: "2" }, { U: "3" }, { T: "4", U: "5" }]],
  ])("are all remembered when a value %s", (_, sessions) => {
    const { session, remembered } = worktree();
    const seen = new Set<string>();
    for (const secrets of sessions) {
      for (const value of Object.values(secrets)) seen.add(value);
      const known = new Set(Object.values(session(secrets)));
      expect(known).toEqual(seen);
      expect(new Set(remembered.values())).toEqual(seen);
    }
  });
});
