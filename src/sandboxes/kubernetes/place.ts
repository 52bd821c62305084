import { parseObject } from "../../tools/json/parseJson.ts";
import type { KubernetesPlace } from "./client.ts";
import { isNamespace } from "./options.ts";

/** Without the kubeconfig: it can name programs to run, and a journal must not choose it. */
export const writePlace = ({ context, namespace }: KubernetesPlace): string =>
  JSON.stringify({ context, namespace });

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Reads the place; `undefined` if it is malformed. */
export const readPlace = (text: string): KubernetesPlace | undefined => {
  const place = parseObject(text);
  if (place === undefined) return undefined;
  const { context, namespace } = place;
  if (textOf(namespace) !== undefined && !isNamespace(namespace)) return undefined;
  return { context: textOf(context), namespace: textOf(namespace) };
};
