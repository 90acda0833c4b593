/** Public types of the campaign module. */
export type * from './control.ts';
export type * from './records.ts';
