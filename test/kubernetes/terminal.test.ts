import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { shellQuote } from "../../src/tools/shellQuote.ts";
import { bundle } from "../helpers/bundle.ts";
import { startTerminal } from "../helpers/processes/terminal.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { describeWithCluster, IMAGE } from "./cluster.ts";

const AGENT = `
trap 'echo interrupted; interrupted=yes' INT
echo "size $(stty size)"
while :; do
  interrupted=
  # A signal ends it in some shells, as the end of the input does.
  read -r line || { [ -n "$interrupted" ] && continue; exit 4; }
  case $line in
    size) echo "size $(stty size)" ;;
    commit) echo talk > talk.txt; git add .; git commit -qm Talk; echo committed ;;
    leave) exit 3 ;;
    *) echo "you said <$line>" ;;
  esac
done
`;

describeWithCluster("an interactive session in a cluster", () => {
  it("has a terminal of its own, with its size, its keys and its exit code", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, "agent.sh"), AGENT);
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Add the agent");
    const program = bundle(join(import.meta.dirname, "interactiveRun.ts"));
    const terminal = startTerminal([process.execPath, program, cwd, IMAGE].map(shellQuote).join(" "), {
      columns: 93,
      rows: 31,
      env: { KUBECONFIG: process.env["KUBECONFIG"] ?? "", NO_PROXY: process.env["NO_PROXY"] ?? "" },
    });
    await terminal.shows("size 31 93");
    terminal.type("grüße, it's me");
    terminal.press("Enter");
    await terminal.shows("you said <grüße, it's me>");
    terminal.resize(120, 37);
    terminal.type("size");
    terminal.press("Enter");
    await terminal.shows("size 37 120");
    terminal.press("C-c");
    await terminal.shows("interrupted");
    terminal.type("commit");
    terminal.press("Enter");
    await terminal.shows("committed");
    terminal.type("leave");
    terminal.press("Enter");
    await terminal.shows("exit code 3, commits 1");
    expect(await terminal.ended()).toBe(0);
    expect(git(cwd, "show", "agent/talk:talk.txt")).toBe("talk");
  });
});
