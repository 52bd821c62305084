import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxCreateOptions, SandboxSnapshot } from "../contract.ts";
import {
  type AnySandboxHandle,
  type CaseDefinition,
  type ConformanceTraits,
  withHostDirectory,
} from "./conformanceCase.ts";

/** Opens a sandbox with an empty worktree, or one that starts from a snapshot. */
export type OpenSandbox = (options?: Pick<SandboxCreateOptions, "snapshot">) => Promise<AnySandboxHandle>;

/** The worktree of an isolated sandbox is its own. That of another one is a mount, which is not in a snapshot. */
const FILE = `"\${TMPDIR:-/tmp}/sanddune-conformance"`;
const fileIn = (sandbox: AnySandboxHandle): string =>
  "copyFileIn" in sandbox ? FILE : `${sandbox.worktreePath}/sanddune-conformance`;

const write = async (sandbox: AnySandboxHandle, text: string): Promise<void> => {
  const { exitCode, stderr } = await sandbox.exec(`echo ${text} >${fileIn(sandbox)}`);
  assert.equal(exitCode, 0, stderr);
};
const read = async (sandbox: AnySandboxHandle): Promise<string> =>
  (await sandbox.exec(`cat ${fileIn(sandbox)}`)).stdout;

const newPlace = async (directory: string) => {
  const name = `conformance-${randomBytes(8).toString("hex")}`;
  const place = { name, directory: join(directory, name) };
  await mkdir(place.directory, { mode: 0o700 });
  return place;
};

type Check = (sandbox: AnySandboxHandle, directory: string) => Promise<void>;

/** Nothing is checked if the provider has no snapshots. */
const withSnapshots =
  (check: Check) =>
  async (sandbox: AnySandboxHandle): Promise<void> => {
    if (sandbox.snapshot !== undefined) await withHostDirectory((directory) => check(sandbox, directory));
  };

/** The cases of `snapshot`. */
export const snapshotCases = (
  open: OpenSandbox,
  remove: NonNullable<ConformanceTraits["removeSnapshot"]> = async () => {},
): CaseDefinition[] => {
  const withSnapshot = async (
    sandbox: AnySandboxHandle,
    directory: string,
    use: (snapshot: SandboxSnapshot) => Promise<void>,
  ): Promise<void> => {
    const place = await newPlace(directory);
    const state = await sandbox.snapshot?.(place);
    assert.equal(typeof state, "string");
    const snapshot = { ...place, state: state ?? "" };
    try {
      await use(snapshot);
    } finally {
      await remove(snapshot);
    }
  };
  const withCopy = async (
    snapshot: SandboxSnapshot,
    use: (copy: AnySandboxHandle) => Promise<void>,
  ): Promise<void> => {
    const copy = await open({ snapshot });
    try {
      await use(copy);
    } finally {
      await copy.close();
    }
  };
  return [
    {
      name: "a sandbox from a snapshot has the files of the original, and both are independent",
      check: withSnapshots(async (sandbox, directory) => {
        await write(sandbox, "before");
        await withSnapshot(sandbox, directory, async (snapshot) => {
          assert.equal(await read(sandbox), "before\n");
          await write(sandbox, "original");
          await withCopy(snapshot, async (copy) => {
            assert.equal(await read(copy), "before\n");
            await write(copy, "copy");
            assert.equal(await read(sandbox), "original\n");
            await withCopy(snapshot, async (second) => assert.equal(await read(second), "before\n"));
            assert.equal(await read(copy), "copy\n");
          });
          assert.equal(await read(sandbox), "original\n");
        });
      }),
    },
    {
      name: "a sandbox from a snapshot outlives the snapshot and the original, and can be kept itself",
      check: withSnapshots(async (_, directory) => {
        const sandbox = await open();
        const started: AnySandboxHandle[] = [];
        try {
          await write(sandbox, "before");
          await withSnapshot(sandbox, directory, async (snapshot) => {
            started.push(await open({ snapshot }));
          });
          await sandbox.close();
          for (const copy of started) {
            assert.equal(await read(copy), "before\n");
            await write(copy, "later");
            await withSnapshot(copy, directory, (snapshot) =>
              withCopy(snapshot, async (second) => assert.equal(await read(second), "later\n")),
            );
          }
        } finally {
          await sandbox.close();
          for (const copy of started) await copy.close();
        }
      }),
    },
    {
      name: "a snapshot can be removed twice",
      check: withSnapshots((sandbox, directory) => withSnapshot(sandbox, directory, remove)),
    },
    {
      name: "a snapshot that is aborted already rejects with the identical reason, and leaves nothing",
      check: withSnapshots(async (sandbox, directory) => {
        const place = await newPlace(directory);
        const reason = { the: "identical reason" };
        const attempt = sandbox.snapshot?.({ ...place, signal: AbortSignal.abort(reason) });
        await assert.rejects(
          async () => attempt,
          (error) => error === reason,
        );
        assert.deepEqual(await readdir(place.directory), []);
        assert.equal((await sandbox.exec("exit 3")).exitCode, 3);
      }),
    },
    {
      name: "a snapshot that is aborted on the way rejects with the identical reason, and leaves nothing",
      check: withSnapshots(async (sandbox, directory) => {
        const place = await newPlace(directory);
        const controller = new AbortController();
        const reason = { the: "identical reason" };
        const attempt = sandbox.snapshot?.({ ...place, signal: controller.signal });
        setImmediate(() => controller.abort(reason));
        await assert.rejects(
          async () => attempt,
          (error) => error === reason,
        );
        assert.deepEqual(await readdir(place.directory), []);
        assert.equal((await sandbox.exec("exit 3")).exitCode, 3);
      }),
    },
  ];
};
