/** Front door of the room for other rooms: what may be asked of running calls. */
export type * from './control.ts';
