/**
 * Asks once for all who want to know at the same time, and for those who come while the answer is fresh. A failure is shared
 * only by those who waited for it.
 */
export const sharedAnswer = <A>(freshMs: number, ask: () => Promise<A>): (() => Promise<A>) => {
  let current: { readonly answer: Promise<A>; freshUntil: number } | undefined;
  return () => {
    if (current !== undefined && performance.now() < current.freshUntil) return current.answer;
    const answer = ask();
    const asked = { answer, freshUntil: Number.POSITIVE_INFINITY };
    current = asked;
    answer.then(
      () => {
        asked.freshUntil = performance.now() + freshMs;
      },
      () => {
        if (current === asked) current = undefined;
      },
    );
    return answer;
  };
};
