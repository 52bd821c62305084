import { parseObject } from "../../tools/json/parseJson.ts";
import type { KubernetesPlace } from "./client.ts";
import { isNamespace } from "./options.ts";

/**
 * What `sanddune clean` is told about where a pod is. Not the kubeconfig: such a file can name programs that are to be run,
 * and a journal is no place to learn from which one to use.
 */
export const writePlace = ({ context, namespace }: KubernetesPlace): string =>
  JSON.stringify({ context, namespace });

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Reads that again; `undefined` if it is something else. */
export const readPlace = (text: string): KubernetesPlace | undefined => {
  const place = parseObject(text);
  if (place === undefined) return undefined;
  const { context, namespace } = place;
  if (textOf(namespace) !== undefined && !isNamespace(namespace)) return undefined;
  return { context: textOf(context), namespace: textOf(namespace) };
};
