/** Front door: how calls come into being, are kept, and are controlled. */
export { Admission } from './admission.ts';
export { BLegDialer } from './b-leg.ts';
export { type ControlNeeds, ControlService } from './control-service.ts';
export { type DialledNumber, readDialledNumber } from './dialled-number.ts';
export { EndpointRate } from './endpoint-rate.ts';
export { CallFactory } from './factory.ts';
export { Inbound } from './inbound.ts';
export { CallKeeper } from './keeper.ts';
export { liveCallOf } from './live-call.ts';
export type { DispatchNeeds } from './needs.ts';
export { NumberReader } from './number-reader.ts';
export { Outbound } from './outbound.ts';
export { type PacedCall, PacedCalls, type PacedEnd, type PacedRefusal } from './paced-calls.ts';
export { Referrals } from './referrals.ts';
export { followRevocations } from './revocation.ts';
export { Scripts } from './scripts.ts';
export { TextDesk } from './text-desk.ts';
export { TrunkConnector } from './trunk.ts';
