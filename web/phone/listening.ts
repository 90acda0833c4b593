/** Adds or removes a listener of the browser. A listener that stays would keep its phone in memory. */
export function listening(
  isOn: boolean,
  target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> | undefined,
  name: string,
  listener: () => void,
): void {
  if (isOn) target?.addEventListener(name, listener);
  else target?.removeEventListener(name, listener);
}
