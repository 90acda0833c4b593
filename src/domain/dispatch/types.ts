/** Types of dispatch for other modules. */
export type * from './control.ts';
export type * from './route-decision.ts';
