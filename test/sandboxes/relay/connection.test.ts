import { expect, onTestFinished, test } from "vitest";
import { Connection } from "../../../src/sandboxes/relay/connection.ts";

test("a sandbox that floods a connection without ever greeting is given up", async () => {
  const flood = "head -c 40000000 /dev/zero >&2; exec sleep 1000";
  const connection = new Connection({ program: "sh", args: ["-c", flood] }, Buffer.from("script"));
  onTestFinished(() => connection.end());
  expect(await connection.ended).toContain("it was ended");
});
