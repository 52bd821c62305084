import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { SandboxLostError } from "../../../src/errors.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { useOtherDocker } from "../../helpers/runtimes/otherDocker.ts";
import { useTcpRelay } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openTcpRelay, type TcpRelay } from "../../helpers/runtimes/tcpRelay.ts";
import { callClient } from "../containers/containers.ts";
import { newSandboxName } from "../openSandbox.ts";

describeWith(["docker", "dockerd"], "sandboxes on two engines", () => {
  const first = useTcpRelay();
  const other = useOtherDocker();
  let second: TcpRelay;
  beforeAll(async () => {
    second = await openTcpRelay(other().socketPath);
  });
  afterAll(() => second.close());

  /** Opens sandboxes, all at once; closed after the test. */
  const open = async (count: number, hosts: readonly string[]) => {
    const provider = docker({ imageName: TEST_IMAGE, host: hosts, leaseMs: 120_000 });
    const places: string[] = [];
    const sandboxes = await Promise.all(
      Array.from({ length: count }, () =>
        provider.create({
          runId: "test-run",
          sandboxName: newSandboxName(),
          repositoryPath: "/repository",
          onPlaced: (place) => places.push(place),
        }),
      ),
    );
    onTestFinished(async () => {
      await Promise.allSettled(sandboxes.map((sandbox) => sandbox.close()));
    }, 60_000);
    return {
      sandboxes,
      countAt: ({ address }: TcpRelay) => places.filter((place) => place === address).length,
    };
  };

  test("are spread evenly when many are opened at once, and the first of two with as many comes first", async () => {
    // Two addresses of one engine have the same sandboxes of others.
    const twin = await openTcpRelay(other().socketPath);
    onTestFinished(() => twin.close());
    const { countAt, sandboxes } = await open(5, [second.address, twin.address]);
    expect([countAt(second), countAt(twin)]).toEqual([3, 2]);
    expect(other().call("ps", "--quiet").split("\n")).toHaveLength(5);
    const said = await Promise.all(sandboxes.map((sandbox) => sandbox.exec("echo here")));
    expect(said.map(({ stdout }) => stdout)).toEqual(sandboxes.map(() => "here\n"));
  });

  test("go where others have fewer", async () => {
    const labels = ["--label", "sanddune.run=theirs", "--label", "sanddune.owner=elsewhere:1"];
    const names = [newSandboxName(), newSandboxName()];
    for (const name of names) {
      callClient("docker", "run", "--detach", "--name", name, ...labels, TEST_IMAGE, "sleep", "1000");
    }
    onTestFinished(() => {
      callClient("docker", "rm", "--force", ...names);
    });
    const { countAt } = await open(2, [first().address, second.address]);
    expect([countAt(first()), countAt(second)]).toEqual([0, 2]);
    expect(other().call("ps", "--quiet").split("\n")).toHaveLength(2);
  });

  test("go to the engine that answers and has the image", async () => {
    const { countAt } = await open(1, ["tcp://127.0.0.1:1", second.address]);
    expect(countAt(second)).toBe(1);
    other().call("tag", TEST_IMAGE, "sanddune-test-only-there");
    const provider = docker({
      imageName: "sanddune-test-only-there",
      host: [first().address, second.address],
    });
    const places: string[] = [];
    const sandbox = await provider.create({
      runId: "test-run",
      sandboxName: newSandboxName(),
      repositoryPath: "/repository",
      onPlaced: (place) => places.push(place),
    });
    await sandbox.close();
    expect(places).toEqual([second.address]);
  });

  test("are lost with their daemon, and those of the other one are not", async () => {
    const [here] = (await open(1, [first().address])).sandboxes;
    const [there] = (await open(1, [second.address])).sandboxes;
    const gone = there?.exec("echo running; sleep 1000", { onLine: () => other().kill() });
    await expect(gone).rejects.toBeInstanceOf(SandboxLostError);
    expect((await here?.exec("echo here"))?.stdout).toBe("here\n");
  });
});
