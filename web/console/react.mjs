/** React's interface for the widgets, provided by Preact. */
export * from 'preact/compat';
export { default } from 'preact/compat';

/**
 * Absent: Preact would run it after the references of elements are set, and the widgets call their handlers then. Without
 * it they set their handlers while rendering.
 */
export const useInsertionEffect = undefined;
