/** React's interface for the widgets, provided by Preact. */
export * from 'preact/compat';
export { default } from 'preact/compat';

/**
 * Absent: Preact would run it after the references of elements are set, and the widgets call their handlers then. Without
 * it they set their handlers while rendering.
 */
export const useInsertionEffect = undefined;

const { get } = Object.getOwnPropertyDescriptor(Event.prototype, 'currentTarget');
const targets = new WeakMap();

/** React's events have a `currentTarget` that the widgets set, and read after the dispatch. That of the browser is then null. */
Object.defineProperty(Event.prototype, 'currentTarget', {
  configurable: true,
  get() {
    return get.call(this) ?? targets.get(this) ?? null;
  },
  set(target) {
    targets.set(this, target);
  },
});
