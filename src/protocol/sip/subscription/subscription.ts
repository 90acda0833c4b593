import type { DialogUser, UserAgentCore } from '../dialog/core.ts';
import { Dialog } from '../dialog/dialog.ts';
import { PeerRoute } from '../dialog/peer-route.ts';
import type { Cancel } from '../dialog/pending.ts';
import type { HeaderInit, SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { Flow } from '../transport/flow.ts';
import { CONTENT_TYPES, type EventPackage } from './event-body.ts';
import { requestedEvent, requestedSeconds } from './read-subscribe.ts';

export interface SubscriptionOptions {
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  readonly flow: Flow;
  readonly event: EventPackage;
  /** Event with its parameters as the phone wrote it (RFC 6665 §4.4.1). */
  readonly eventText: string;
  /** User names of the subscriber and of the monitored user. */
  readonly subscriber: string;
  readonly resource: string;
  /** Builds the body of NOTIFY number `version`. */
  readonly body: (version: number) => string;
  readonly ended: () => void;
}

/** Statuses after which the subscription no longer exists at the subscriber (RFC 6665 §4.2.2). */
const ENDING: ReadonlySet<number> = new Set([
  404, 405, 408, 410, 416, 480, 481, 482, 483, 484, 485, 489, 501, 604,
]);
const MS_PER_SECOND = 1000;

/** One subscription of a phone in a separate dialog (RFC 6665): an immediate NOTIFY, then one for each change. */
export class Subscription implements DialogUser {
  readonly options: SubscriptionOptions;
  readonly contact: string;
  readonly #core: UserAgentCore;
  readonly #dialog: Dialog;
  readonly #route: PeerRoute;
  #version = 0;
  #untilMs = 0;
  #open = true;
  /** True while a NOTIFY is unanswered; changes in that time are sent with the next one. */
  #notifying = false;
  #stale = false;
  #cancelExpiry: Cancel = () => undefined;

  constructor(core: UserAgentCore, options: SubscriptionOptions) {
    const { request, flow, subscriber } = options;
    this.#core = core;
    this.options = options;
    this.contact = request.header('contact') ?? '';
    this.#dialog = Dialog.fromRequest(request, core.newToken(), core.options.random.integer(1000));
    this.#route = new PeerRoute(core, this.#dialog, {
      flow,
      viaFlow: true,
      guard: { receivedAt: [], allow: [] },
      username: subscriber,
      auth: undefined,
    });
  }

  /** Sends 200 and the current state. */
  begin(seconds: number): void {
    this.#core.dialogs.set(this.#dialog.id, this);
    this.#accept(this.options.request, this.options.transaction, seconds);
  }

  /** Handles a change of the monitored state. */
  changed(): void {
    if (!this.#open) return;
    if (this.#notifying) this.#stale = true;
    else this.#notify();
  }

  /** Ends the subscription without NOTIFY, because the phone has subscribed again. */
  drop(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#cancelExpiry();
    this.#core.dialogs.delete(this.#dialog.id);
    this.options.ended();
  }

  receive(request: SipRequest, transaction: TransactionId, flow: Flow): void {
    if (!this.#dialog.receive(request)) {
      this.#refuse(request, transaction, 500);
      return;
    }
    this.#route.received(flow);
    // A refresh that crosses our last NOTIFY cannot continue the subscription: the phone must subscribe again.
    if (request.method !== 'SUBSCRIBE' || !this.#open) this.#refuse(request, transaction, 481);
    else if (requestedEvent(request)?.event !== this.options.event)
      this.#refuse(request, transaction, 489);
    else {
      const requested = requestedSeconds(request);
      if (requested.kind === 'tooBrief') {
        const headers = [['Min-Expires', String(requested.least)]] as const;
        this.#refuse(request, transaction, 423, headers);
      } else {
        this.#dialog.refreshTarget(request);
        this.#accept(request, transaction, requested.seconds);
      }
    }
  }

  acknowledged(): void {}

  connectionLost(connectionId: number): void {
    this.#route.connectionLost(connectionId);
  }

  #refuse(
    request: SipRequest,
    transaction: TransactionId,
    status: number,
    headers: HeaderInit = [],
  ): void {
    this.#core.respond(transaction, request, status, { toTag: this.#dialog.localTag, headers });
  }

  #accept(request: SipRequest, transaction: TransactionId, seconds: number): void {
    const headers: HeaderInit = [
      ['Contact', this.#route.contact],
      ['Expires', String(seconds)],
    ];
    this.#core.respond(transaction, request, 200, { toTag: this.#dialog.localTag, headers });
    const { nowMs, dialogTimers } = this.#core;
    this.#untilMs = nowMs + seconds * MS_PER_SECOND;
    this.#cancelExpiry();
    if (seconds === 0) {
      this.#end();
      return;
    }
    this.#cancelExpiry = dialogTimers.at(this.#untilMs, () => this.#end());
    this.#notifying = false;
    this.#notify();
  }

  /** Ends the subscription after expiry or unsubscription. */
  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#cancelExpiry();
    this.#send('terminated;reason=timeout', () => {
      this.#core.dialogs.delete(this.#dialog.id);
    });
    this.options.ended();
  }

  #notify(): void {
    const left = Math.max(
      0,
      Math.floor(Math.round(this.#untilMs - this.#core.nowMs) / MS_PER_SECOND),
    );
    this.#notifying = true;
    this.#stale = false;
    this.#send(`active;expires=${left}`, (status) => {
      this.#notifying = false;
      if (ENDING.has(status)) this.drop();
      else if (this.#stale && this.#open) this.#notify();
    });
  }

  #send(state: string, answered: (status: number) => void): void {
    const { event, eventText, body } = this.options;
    const headers: HeaderInit = [
      ['Contact', this.#route.contact],
      ['Event', eventText],
      ['Subscription-State', state],
      ['Content-Type', CONTENT_TYPES[event]],
    ];
    const text = body(this.#version);
    this.#version += 1;
    this.#route.send(
      'NOTIFY',
      { headers, body: text },
      {
        response: ({ status }) => {
          if (status >= 200) answered(status);
        },
        failed: () => answered(408),
      },
    );
  }
}
