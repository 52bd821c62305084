/**
 * Use it for a slow question that many callers ask: callers share an answer while it is pending, and for `freshMs` after that. A
 * failure is shared only by the callers that were waiting for it.
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
