/** Front door of the room for other rooms: causes, and the call itself. */
export { HANGUP_CAUSES, type HangupCauseKey, type HangupSource } from './hangup-cause.ts';
