/** Coordinates several nodes that share one store: membership, takeover of a dead node's work, and fencing. */
export { NodeLease } from './lease.ts';
export { Membership, sameId } from './membership.ts';
export { Peers, type Question } from './peers.ts';
export { SelfNode } from './self-node.ts';
export { CONDITION_NAMES, type ConditionName, Serviceability } from './serviceability.ts';
export { NodeTickets, type Ticket } from './tickets.ts';
