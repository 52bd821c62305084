// The SDK has the address of Vercel built in: what is meant for it goes to LOOPBACK_VERCEL, where that is set.
// For programs of their own: node --import <this file>.

const direct = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const loopback = process.env.LOOPBACK_VERCEL;
  const isForVercel = typeof input === "string" && input.startsWith("https://vercel.com/");
  if (!isForVercel || loopback === undefined) return direct(input, init);
  return direct(input.replace("https://vercel.com", loopback), init);
};
