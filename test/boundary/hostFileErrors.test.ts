import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { runAtBoundary } from "../../src/boundary/boundary.ts";
import { asHostFileError, writeErrorIn } from "../../src/boundary/hostFileErrors.ts";
import { interruptible } from "../../src/boundary/interruptible.ts";
import { HostFileError, InternalError } from "../../src/errors.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const errno = (code: string, syscall: string) =>
  Object.assign(new Error(code), { code, syscall, path: "/somewhere" });

it.each(["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE"])(
  "%s of a file operation is a HostFileError at the boundary, as a failure or a defect",
  async (code) => {
    const reason = errno(code, "write");
    const ways = [
      Effect.die(reason),
      Effect.fail(reason),
      interruptible(() => Promise.reject(reason)),
      interruptible(
        () => Promise.reject(reason),
        (rejected) => rejected,
      ),
    ];
    for (const way of ways) {
      const error = await runAtBoundary(way).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(HostFileError);
      expect(error).toMatchObject({ errorCode: code, path: "/somewhere", cause: reason });
    }
  },
);

it("a refused connection and a bug are not host file errors", async () => {
  const [refused] = await once(connect({ port: 1, host: "127.0.0.1" }), "error");
  expect(asHostFileError(refused)).toBeUndefined();
  const error = await runAtBoundary(Effect.die(new TypeError("a bug"))).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(InternalError);
});

it("an error of the file system is a host file error", () => {
  const read = () => readFileSync(temporaryDirectory());
  let thrown: unknown;
  try {
    read();
  } catch (error) {
    thrown = error;
  }
  expect(asHostFileError(thrown)).toMatchObject({ errorCode: "EISDIR" });
});

it.each([
  ["error: unable to create file a/b: No space left on device", "ENOSPC"],
  ["fatal: Unable to create '/r/.git/index.lock': Read-only file system\n\nmore", "EROFS"],
  ["warning: something\nerror: cannot open 'x': Too many open files.\n", "EMFILE"],
  ["fatal: write error: Disk quota exceeded\n", "EDQUOT"],
  ["error: pathspec 'No space left on device' did not match", undefined],
  ["fatal: cannot update ref 'x': couldn't write 'y.lock'", undefined],
])("of git's %j is read as %s", (output, code) => {
  expect(writeErrorIn(output, temporaryDirectory())).toBe(code);
});
