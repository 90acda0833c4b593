import { noOperation } from '../../../base/no-operation.ts';
import type { ResponseParts, SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { Flow } from '../transport/flow.ts';
import { ALLOW } from './capabilities.ts';
import type { DialogUser, UserAgentCore } from './core.ts';
import { Dialog } from './dialog.ts';
import { PeerRoute } from './peer-route.ts';
import type { Cancel } from './pending.ts';
import { EXPIRES_S, type ReferNotifier, sendNotify } from './refer.ts';

/**
 * Subscription created by an out-of-dialog REFER (RFC 7647 §4, RFC 4538). It has a separate dialog in which NOTIFYs
 * report the outcome. It accepts only a SUBSCRIBE that ends it.
 */
export class ReferSubscription implements DialogUser, ReferNotifier {
  readonly route: PeerRoute;
  readonly #core: UserAgentCore;
  readonly #dialog: Dialog;
  #isOver = false;
  #cancelExpiry: Cancel = noOperation;

  constructor(core: UserAgentCore, refer: SipRequest, flow: Flow) {
    this.#core = core;
    this.#dialog = Dialog.fromRequest(refer, core.newToken(), core.options.random.integer(1000));
    this.route = new PeerRoute(core, this.#dialog, {
      flow,
      viaFlow: true,
      guard: { receivedAt: [], allow: [] },
      auth: undefined,
    });
  }

  accepted(): void {
    this.#core.dialogs.set(this.#dialog.id, this);
  }

  extended(): void {
    const { nowMs, dialogTimers } = this.#core;
    this.#cancelExpiry();
    this.#cancelExpiry = dialogTimers.at(nowMs + 1000 * EXPIRES_S, () => this.#end('timeout'));
  }

  sessionEnded(): void {
    if (this.#core.dialogs.get(this.#dialog.id) === this) this.#end('noresource');
  }

  /** Ends the subscription without an outcome. */
  #end(reason: 'timeout' | 'noresource'): void {
    const state = `terminated;reason=${reason}`;
    sendNotify(this.route, { event: 'refer', state, status: 100 });
    this.reported();
  }

  /** Called after the last NOTIFY or when the subscriber unsubscribes. */
  reported(): void {
    this.#isOver = true;
    this.#cancelExpiry();
    this.#core.dialogs.delete(this.#dialog.id);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  reply(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts: ResponseParts = {},
  ): void {
    this.#core.respond(transaction, request, status, { ...parts, toTag: this.#dialog.localTag });
  }

  receive(request: SipRequest, transaction: TransactionId, flow: Flow): void {
    const isInOrder = this.#dialog.receive(request);
    if (isInOrder) this.route.received(flow);
    if (!isInOrder) this.reply(transaction, request, 500);
    else if (request.method !== 'SUBSCRIBE' || request.expires !== 0) {
      this.reply(transaction, request, 405, { headers: ALLOW });
    } else {
      this.reply(transaction, request, 200, { headers: [['Expires', '0']] });
      this.reported();
    }
  }

  acknowledged(): void {}

  connectionLost(connectionId: number): void {
    this.route.connectionLost(connectionId);
  }
}
