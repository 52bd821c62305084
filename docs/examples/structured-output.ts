// A review as data: npm install zod; node structured-output.ts
import { command, Output, run } from "@missingstudio/sanddune";
import { bubblewrap } from "@missingstudio/sanddune/sandboxes/bubblewrap";
import { z } from "zod";

const review = z.object({
  approved: z.boolean(),
  remarks: z.array(z.string()),
});

const { output } = await run({
  // Or claudeCode("claude-opus-4-8")
  agent: command("sh ./reviewer.sh"),
  sandbox: bubblewrap(),
  branchStrategy: { type: "merge-to-head" },
  prompt: `Review the last commit. Answer with
<review>{"approved": true or false, "remarks": ["…"]}</review>`,
  output: Output.object({ tag: "review", schema: review }),
});

console.log(output.approved ? "Approved" : output.remarks.join("\n"));
