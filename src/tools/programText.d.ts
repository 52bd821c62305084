/** A program for sandboxes, bundled to one text by scripts/programText.mjs. */
declare module "*?text" {
  const program: string;
  export default program;
}
