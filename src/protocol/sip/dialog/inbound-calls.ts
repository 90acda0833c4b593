import { asLegId } from '../../../base/ids.ts';
import type { Gate } from '../auth/gate.ts';
import type { SipRequest } from '../message.ts';
import type { TransactionOutput } from '../transaction/types.ts';
import { unescapeUser } from '../uri.ts';
import type { IncomingCall, LegId } from '../user-agent-types.ts';
import { sdpOf } from './capabilities.ts';
import type { UserAgentCore } from './core.ts';
import { replacedBy } from './dialog.ts';
import { InboundLeg } from './inbound.ts';

type RequestOutput = Extract<TransactionOutput, { kind: 'request' }>;

/** Inbound legs have odd IDs; outbound legs have even IDs that their owner chooses. */
const ID_STEP = 2;

/** Creates legs for new INVITEs: immediately for carriers, after digest authentication for all others. */
export class InboundCalls {
  readonly #core: UserAgentCore;
  readonly #gate: Gate | undefined;
  readonly #legs = new Map<LegId, InboundLeg>();
  #nextId = 1;

  constructor(core: UserAgentCore, gate: Gate | undefined) {
    this.#core = core;
    this.#gate = gate;
  }

  get size(): number {
    return this.#legs.size;
  }

  leg(id: LegId): InboundLeg | undefined {
    return this.#legs.get(id);
  }

  receive(invite: RequestOutput): void {
    const { request, transaction, flow } = invite;
    const core = this.#core;
    const gate = this.#gate;
    const carrier = core.options.trustedSource(flow);
    if (gate === undefined) {
      this.#begin(invite, { username: undefined, login: undefined, carrier });
      return;
    }
    let open = true;
    const localTag = core.newToken();
    core.servers.set(transaction, {
      localTag,
      cancelled: () => {
        open = false;
        core.respond(transaction, request, 487, { toTag: localTag });
      },
    });
    if (carrier === undefined) {
      this.#admit(gate, invite, () => open);
      return;
    }
    // A phone may share its address with a carrier (same host or NAT). Callers that use a local user name must
    // authenticate.
    gate.knows(fromUser(request) ?? '', (isUser) => {
      if (!open) return;
      if (isUser) this.#admit(gate, invite, () => open);
      else this.#begin(invite, { username: undefined, login: undefined, carrier });
    });
  }

  /** The digest user name identifies the caller. From may contain any number or be anonymous (RFC 3323 §4.1). */
  #admit(gate: Gate, invite: RequestOutput, isOpen: () => boolean): void {
    gate.admit(invite, ({ username, login }) => {
      if (isOpen()) this.#begin(invite, { username, login: login?.id, carrier: undefined });
    });
  }

  #begin(
    invite: RequestOutput,
    caller: Pick<IncomingCall, 'username' | 'login' | 'carrier'>,
  ): void {
    const { request, transaction, flow } = invite;
    const replaced = replacedBy(this.#core, request);
    if (replaced !== undefined && 'status' in replaced) {
      this.#core.refuse(transaction, request, flow, replaced.status, 'Replaces');
      return;
    }
    const id = asLegId(this.#nextId);
    this.#nextId += ID_STEP;
    const leg = InboundLeg.begin(this.#core, {
      id,
      request,
      transaction,
      flow,
      viaFlow: caller.carrier === undefined,
      username: caller.username,
      guard: caller.username === undefined ? undefined : { receivedAt: [], allow: [] },
      ended: () => this.#legs.delete(id),
    });
    if (leg === undefined) return;
    this.#legs.set(id, leg);
    this.#core.emit({
      kind: 'incoming',
      call: { leg: id, request, flow, ...caller, sdp: sdpOf(request), replaces: replaced?.leg },
    });
  }
}

const fromUser = ({ from }: SipRequest): string | undefined =>
  from.uri.kind === 'sip' ? unescapeUser(from.uri.user) : undefined;
