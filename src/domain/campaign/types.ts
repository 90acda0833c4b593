/** Front door for other modules: campaigns as they are kept, and what may be asked of them. */
export type * from './control.ts';
export type * from './records.ts';
