import { constants } from "node:os";
import { join } from "node:path";
import type { LoopbackMachine, LoopbackProcess } from "./loopbackMachine.ts";
import type { CallContext } from "./modalDefinitions.ts";
import { STATUS, type Status } from "./modalFaults.ts";
import { type Spool, spool } from "./spool.ts";

interface StartRequest {
  readonly taskId: string;
  readonly execId: string;
  readonly commandArgs: readonly string[];
  readonly workdir?: string;
  readonly timeoutSecs?: number;
}

interface ExecRequest {
  readonly execId: string;
}

interface ReadRequest extends ExecRequest {
  readonly fileDescriptor: number;
  readonly offset: number;
}

interface WriteRequest extends ExecRequest {
  readonly offset: number;
  readonly data: Uint8Array;
  readonly eof: boolean;
}

interface Exit {
  readonly code?: number;
  readonly signal?: number;
}

interface Command {
  readonly machine: LoopbackMachine;
  readonly child: LoopbackProcess;
  readonly outputs: readonly Spool[];
  readonly exit: Promise<Exit>;
  readonly lose: () => void;
  written: number;
}

/**
 * The command router of Modal, as far as the SDK's `exec` uses it. There is no way to kill a command. Commands do not notice
 * that their client is gone; a timeout hits the leader only.
 */
export const modalCommands = (
  machineOf: (taskId: string) => LoopbackMachine,
  fail: (status: Status, details: string) => Error,
) => {
  const commands = new Map<string, Command>();
  const find = ({ execId }: ExecRequest): Command => {
    const command = commands.get(execId);
    if (command === undefined) throw fail(STATUS.NOT_FOUND, `no exec ${execId}`);
    return command;
  };
  const start = (request: StartRequest): Command => {
    const machine = machineOf(request.taskId);
    const child = machine.start(request.commandArgs, { cwd: request.workdir || machine.home });
    const ended = new Promise<Exit>((resolve) => {
      child.on("error", () => resolve({ code: 127 }));
      child.on("exit", (code, signal) =>
        resolve(signal === null ? { code: code ?? 0 } : { signal: constants.signals[signal] }),
      );
    });
    const { timeoutSecs = 0 } = request;
    if (timeoutSecs > 0) setTimeout(() => child.kill("SIGKILL"), timeoutSecs * 1000).unref();
    const outputs = [child.stdout, child.stderr].map((stream, number) =>
      spool(stream, join(machine.directory, `${request.execId}-${number}`)),
    );
    let lose = () => {};
    const lost = new Promise<Exit>((resolve) => {
      lose = () => {
        resolve({ code: 0 });
        for (const output of outputs) output.end();
      };
    });
    return { machine, child, outputs, exit: Promise.race([lost, ended]), lose, written: 0 };
  };

  return {
    /** The machine is gone. Streams end as if all were well, and commands have ended with 0: nobody knows better. */
    lose: async (machine: LoopbackMachine) => {
      const ended = [...commands].filter(([, command]) => command.machine === machine);
      for (const [, { lose }] of ended) lose();
      await machine.destroy();
      for (const [execId, command] of ended) {
        await Promise.all(command.outputs.map((output) => output.close()));
        commands.set(execId, { ...command, outputs: [] });
      }
    },
    taskExecStart: async (request: StartRequest) => {
      // The same id again is the same command: the answer to the first one was lost.
      if (!commands.has(request.execId)) commands.set(request.execId, start(request));
      return {};
    },
    async *taskExecStdioRead(request: ReadRequest, { signal }: CallContext) {
      const { outputs } = find(request);
      const output = outputs[request.fileDescriptor];
      if (output === undefined) return;
      for await (const data of output.read(Number(request.offset), signal)) yield { data };
    },
    taskExecWait: async (request: ExecRequest) => find(request).exit,
    taskExecStdinWrite: async (request: WriteRequest) => {
      const command = find(request);
      const { stdin } = command.child;
      const offset = Number(request.offset);
      if (offset > command.written) throw fail(STATUS.INVALID_ARGUMENT, "there is a gap in the input");
      const fresh = request.data.subarray(command.written - offset);
      if (fresh.length > 0) {
        if (!stdin.writable) throw fail(STATUS.FAILED_PRECONDITION, "stdin is closed");
        command.written += fresh.length;
        await new Promise<void>((resolve) => stdin.write(fresh, () => resolve()));
      }
      if (request.eof) stdin.end();
      return {};
    },
  };
};
