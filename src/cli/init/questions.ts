import { type CANCEL_SYMBOL, confirm, isCancel, select, text } from "@clack/prompts";
import { CancelledError } from "../../errors.ts";
import type { Question } from "./flags.ts";

const answered = <Answer>(question: string, answer: Answer | typeof CANCEL_SYMBOL): Answer => {
  if (isCancel(answer)) throw new CancelledError(question);
  return answer;
};

/** Asks at the terminal. Rejects with a `CancelledError` on Ctrl-C and Escape. */
export const askAtTerminal = async (question: Question): Promise<string> => {
  const { text: message, choices, byDefault, example } = question;
  if (choices !== undefined) {
    const options = Object.entries(choices).map(([value, title]) => ({ value, label: `${value}: ${title}` }));
    return answered(
      message,
      await select({ message, options, ...(byDefault !== undefined && { initialValue: byDefault }) }),
    );
  }
  return answered(
    message,
    await text({
      message,
      ...(byDefault === undefined ? { placeholder: example ?? "" } : { initialValue: byDefault }),
      validate: (typed) => (typed?.trim() ? undefined : "Type an answer, or cancel with Ctrl-C."),
    }),
  );
};

export const askForYesAtTerminal = async (message: string): Promise<boolean> =>
  answered(message, await confirm({ message }));
