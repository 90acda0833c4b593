/** Front door: several nodes over one store — who lives, who takes up what a dead one left, and who finds itself declared dead. */
export { NodeLease } from './lease.ts';
export { Membership, type MembershipNeeds } from './membership.ts';
export { Peers, type Question } from './peers.ts';
export { SelfNode } from './self-node.ts';
export { CONDITION_NAMES, Serviceability } from './serviceability.ts';
export { NodeTickets, type Ticket } from './tickets.ts';
