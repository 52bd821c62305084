// The members of a type, as they are written in its declaration.
import { SyntaxKind } from "typescript/unstable/ast";
import { SymbolFlags } from "typescript/unstable/sync";

const NO_TRUNCATION = 1;

export const onOneLine = (text) =>
  text
    .replace(/\/\*\*.*?\*\/\s*/gs, "")
    .replace(/\s+/g, " ")
    .replaceAll("; }", " }")
    .replace(/\breadonly (?=\w+\??:)/g, "")
    .trim();

export const documentation = (checker, symbol) => ({
  text: checker.getDocumentationCommentOfSymbol(symbol).trim(),
  examples: checker
    .getJsDocTagsOfSymbol(symbol)
    .filter(({ name }) => name === "example")
    .map(({ text }) => text.trim()),
});

/** A type spelt out, where it is written with constants that users do not see. */
export const spelledOut = (checker, type, node) => checker.typeToString(type, node, NO_TRUNCATION);

const typeText = (checker, symbol, node) => {
  const written = onOneLine(node.type.getText());
  if (!written.includes("typeof ")) return written;
  return spelledOut(checker, checker.getTypeOfSymbol(symbol), node).replace(/ \| undefined$/, "");
};

export const parametersText = (node) => onOneLine(node.parameters.map((each) => each.getText()).join(", "));

const isMethod = ({ kind }) => [SyntaxKind.MethodSignature, SyntaxKind.MethodDeclaration].includes(kind);

/** An option that other functions have, and this one refuses. */
const isRefused = ({ type }) => [SyntaxKind.NeverKeyword, SyntaxKind.UndefinedKeyword].includes(type?.kind);

/** Where a member is declared; in a union, where it can be given. */
const declarationOf = (symbol) => {
  const nodes = symbol.declarations.map((handle) => handle.resolve());
  return nodes.find((node) => node?.type !== undefined && !isRefused(node));
};

/** Whether a member is declared by the package, and not by the language, as those of lists are. */
export const isOurs = ({ declarations }) => declarations.every(({ path }) => path.includes("/dist/"));

/** The members that these properties are, and those of objects inside of them by their path. */
export const membersOf = (checker, properties, prefix = "") =>
  properties.flatMap((symbol) => {
    const node = declarationOf(symbol);
    if (node === undefined) return [];
    const name = `${prefix}${symbol.name.replace(/^__@(\w+)@.*$/, "[Symbol.$1]")}`;
    const isOptional = (symbol.flags & SymbolFlags.Optional) !== 0;
    const isGroup = node.type.kind === SyntaxKind.TypeLiteral;
    const type = isMethod(node)
      ? `(${parametersText(node)}): ${onOneLine(node.type.getText())}`
      : `: ${isGroup ? "object" : typeText(checker, symbol, node)}`;
    const member = {
      name,
      code: `${name}${isOptional ? "?" : ""}${type}`,
      ...documentation(checker, symbol),
    };
    if (!isGroup) return [member];
    const inner = checker.getPropertiesOfType(checker.getNonNullableType(checker.getTypeOfSymbol(symbol)));
    return [member, ...membersOf(checker, inner, `${name}.`)];
  });
