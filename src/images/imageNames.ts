const HOST = String.raw`(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[A-Fa-f0-9:]+\])(?::\d+)?`;
const PART = "[a-z0-9]+(?:(?:[.]|__?|-+)[a-z0-9]+)*";
/** What both engines take for a name: a registry, a path, a tag and a digest, of which only the path must be there. */
const IMAGE_NAME = new RegExp(
  String.raw`^(?:${HOST}/)?${PART}(?:/${PART})*(?::\w[\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$`,
);

/** What is wrong with the name of an image, in words; `undefined` if an engine can be asked for it. */
export const checkImageName = (name: string): string | undefined =>
  IMAGE_NAME.test(name)
    ? undefined
    : `${JSON.stringify(name)} is no name for an image. Write one like sanddune:my-app`;

/** The part of a name that both engines leave as it is: they put a registry before it, and a tag behind. */
const withTag = (name: string): string => (/:[^/]*$/.test(name) ? name : `${name}:latest`);

/** Whether a tag that an engine lists is the one that a name stands for. An image's id is nobody's name. */
export const namesTag = (name: string, tag: string): boolean => {
  const wanted = withTag(name);
  return [wanted, `localhost/${wanted}`].includes(tag);
};
