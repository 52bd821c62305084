// One exported name: its comment, its declaration, its members.
import { SyntaxKind } from "typescript/unstable/ast";
import { SignatureKind, SymbolFlags } from "typescript/unstable/sync";
import { documentation, isOurs, membersOf, onOneLine, parametersText, spelledOut } from "./members.mjs";

/** A call as it is written in a program. */
const callText = (name, node) => {
  const generics = node.typeParameters?.map((each) => each.getText()).join(", ");
  const parameters = `(${parametersText(node)}): ${onOneLine(node.type.getText())}`;
  return `${name}${generics === undefined ? "" : `<${onOneLine(generics)}>`}${parameters}`;
};

const describeValue = (checker, symbol, name) => {
  const type = checker.getTypeOfSymbol(symbol);
  const calls = checker.getSignaturesOfType(type, SignatureKind.Call);
  return calls.length > 0
    ? { kind: "function", code: calls.map(({ declaration }) => callText(name, declaration.resolve())) }
    : { kind: "constant", members: membersOf(checker, checker.getPropertiesOfType(type)) };
};

/** A class with its own members: those that it inherits are with its base. */
const describeClass = (checker, symbol, name, { members, heritageClauses }) => {
  const own = members
    .filter(
      (member) => member.kind === SyntaxKind.PropertyDeclaration && !member.getText().startsWith("private"),
    )
    .map((member) => member.name.getText());
  const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
  const constructors = members.filter((member) => member.kind === SyntaxKind.Constructor);
  return {
    kind: "class",
    base: heritageClauses?.[0]?.types[0]?.getText(),
    code: constructors.map((each) => `new ${name}(${parametersText(each)})`),
    members: membersOf(
      checker,
      properties.filter((property) => own.includes(property.name) && property.name !== "name"),
    ),
  };
};

/** Whether a type is shown by its members, and not by its declaration. */
const isObject = ({ kind, type: written }, type) =>
  kind === SyntaxKind.InterfaceDeclaration ||
  [SyntaxKind.TypeLiteral, SyntaxKind.IntersectionType].includes(written.kind) ||
  (written.kind === SyntaxKind.TypeReference && !type.isUnionType());

const describeType = (checker, symbol, node) => {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const properties = checker.getPropertiesOfType(type);
  if (isObject(node, type) && properties.length > 0 && properties.every(isOurs))
    return {
      members: membersOf(checker, properties),
      aliasOf: /^\w+$/.exec(node.type?.getText() ?? "")?.[0],
    };
  const written = node.getText().replace(/^export (declare )?/, "");
  if (!written.includes("typeof ")) return { code: [written.replaceAll("    ", "  ")] };
  const values = type.isUnionType() ? type.getTypes() : [type];
  return {
    code: [`type ${symbol.name} = ${values.map((each) => spelledOut(checker, each, node)).join(" | ")};`],
  };
};

/** The names that stand for any type in a declaration. */
const genericsOf = (checker, symbol, node) => {
  const nodes = [
    node,
    ...checker
      .getSignaturesOfType(checker.getTypeOfSymbol(symbol), SignatureKind.Call)
      .map(({ declaration }) => declaration?.resolve()),
  ];
  return nodes.flatMap((each) => (each?.typeParameters ?? []).map((parameter) => parameter.name.getText()));
};

/** Everything about an exported name. */
export const describe = (checker, symbol, name) => {
  const [handle] = symbol.declarations;
  const node = handle.resolve();
  const isValue = (symbol.flags & SymbolFlags.Value) !== 0;
  const described =
    node.kind === SyntaxKind.ClassDeclaration
      ? describeClass(checker, symbol, name, node)
      : isValue
        ? describeValue(checker, symbol, name)
        : { kind: "type", ...describeType(checker, symbol, node) };
  const file = handle.path.replace(/^.*\/dist\/(.*)\.d\.ts$/, "$1");
  const generics = genericsOf(checker, symbol, node);
  return { name, file, generics, code: [], members: [], ...documentation(checker, symbol), ...described };
};
