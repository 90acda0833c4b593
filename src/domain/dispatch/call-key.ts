/** Key of a call in the cluster directory. */
export const callKey = (callUuid: string): string => `call:${callUuid}`;
