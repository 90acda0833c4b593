/** A shared empty function, so that the parts of a call need not allocate their own. */
export const noOperation = (): undefined => undefined;
