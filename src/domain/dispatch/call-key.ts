/** A call in the directory of nodes. */
export const callKey = (callUuid: string): string => `call:${callUuid}`;
