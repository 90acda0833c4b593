/** What is called where nothing is to be done: one for all, as each of a call's parts would have its own otherwise. */
export const noOperation = (): undefined => undefined;
