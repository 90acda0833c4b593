/** Front door for other modules: what may be asked of running calls. */
export type * from './control.ts';
export type * from './route-decision.ts';
