/** Entry point of dispatch: call setup, billing and control. */
export { Admission } from './admission.ts';
export { BLegDialer } from './b-leg.ts';
export { CallBilling } from './call-billing.ts';
export { callKey } from './call-key.ts';
export { type ControlNeeds, ControlService } from './control-service.ts';

export { EndpointRate } from './endpoint-rate.ts';
export { CallFactory } from './factory.ts';
export { Inbound } from './inbound.ts';
export { liveCallOf } from './live-call.ts';
export { MessageRouting } from './message-routing.ts';
export type { DispatchNeeds } from './needs.ts';
export { NumberReader } from './number-reader.ts';
export { Outbound } from './outbound.ts';
export { PacedCalls } from './paced-calls.ts';
export { Referrals } from './referrals.ts';
export { followRevocations } from './revocation.ts';
export { Scripts } from './scripts.ts';
export { shareControl } from './shared-control.ts';
export { TrunkConnector } from './trunk.ts';
