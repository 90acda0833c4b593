import type { Gate } from '../auth/gate.ts';
import type { UserAgentCore } from '../dialog/core.ts';
import type { HeaderInit, SipRequest } from '../message.ts';
import type { ContactBinding } from '../registrar/binding.ts';
import type { TransactionOutput } from '../transaction/types.ts';
import { formatUri, sipUri, unescapeUser } from '../uri.ts';
import type { Admitted } from '../user-agent-types.ts';
import {
  dialogInfo,
  EVENT_PACKAGES,
  type EventPackage,
  messageSummary,
  regInfo,
} from './event-body.ts';
import type { PhoneDialogs } from './phone-dialogs.ts';
import { acceptsBody, requestedEvent, requestedSeconds } from './read-subscribe.ts';
import { Subscription } from './subscription.ts';

type RequestOutput = Extract<TransactionOutput, { kind: 'request' }>;

/** Maximum number of subscriptions per user. A console with a lamp for each colleague needs many. */
const MOST_OF_A_USER = 128;
const MOST = 20_000;
const ALLOW_EVENTS: HeaderInit = [['Allow-Events', EVENT_PACKAGES.join(', ')]];
const US_PER_MS = 1000;

interface Sources {
  readonly contactsOf: (username: string) => readonly ContactBinding[];
  readonly dialogs: Pick<PhoneDialogs, 'of'>;
}

/** Subscriptions of phones (RFC 6665): calls of users in their account, waiting messages, their own registration. */
export class Subscriptions {
  readonly #core: UserAgentCore;
  readonly #gate: Gate;
  readonly #sources: Sources;
  readonly #byUser = new Map<string, Set<Subscription>>();
  readonly #byResource = new Map<string, Set<Subscription>>();
  #size = 0;

  constructor(core: UserAgentCore, gate: Gate, sources: Sources) {
    this.#core = core;
    this.#gate = gate;
    this.#sources = sources;
  }

  get size(): number {
    return this.#size;
  }

  /** Handles a SUBSCRIBE outside a dialog. */
  receive(output: RequestOutput): void {
    this.#gate.admit(output, (admitted) => {
      const { request } = output;
      const requested = requestedEvent(request);
      if (request.contact === undefined) this.#refuse(output, 400, 'no Contact');
      else if (requested === undefined) this.#refuse(output, 489, 'event package', ALLOW_EVENTS);
      else if (!acceptsBody(request, requested.event))
        this.#refuse(output, 406, 'accepts no such body');
      else this.#judge(output, requested.event, admitted);
    });
  }

  /** Notifies subscribers about a change of a user's state. */
  changed(event: EventPackage, username: string): void {
    const watching = this.#byResource.get(keyOf(event, username));
    if (watching === undefined) return;
    for (const subscription of [...watching]) subscription.changed();
  }

  /**
   * Authorizes a subscription. Only phones of the same account may monitor each other; private packages are limited to
   * the user.
   */
  #judge(output: RequestOutput, event: EventPackage, admitted: Admitted): void {
    const { username, group } = admitted;
    const resource = resourceOf(output.request) || username;
    if (resource === username) {
      this.#begin(output, event, { username, resource });
      return;
    }
    if (event !== 'dialog' || group === undefined) {
      this.#refuse(output, 403, "another user's");
      return;
    }
    this.#gate.groupOf(resource, (other) => {
      if (other === group) this.#begin(output, event, { username, resource });
      else this.#refuse(output, 404, 'no such user');
    });
  }

  #begin(
    output: RequestOutput,
    event: EventPackage,
    { username, resource }: { readonly username: string; readonly resource: string },
  ): void {
    const { request, transaction, flow } = output;
    const requested = requestedSeconds(request);
    if (requested.kind === 'tooBrief') {
      this.#refuse(output, 423, 'too brief', [['Min-Expires', String(requested.least)]]);
      return;
    }
    const own = this.#byUser.get(username) ?? new Set();
    for (const other of own) {
      const { options, contact } = other;
      const isSame = options.event === event && options.resource === resource;
      // A restarted phone subscribes again in another dialog; drop the old one.
      if (isSame && contact === (request.header('contact') ?? '')) other.drop();
    }
    if (own.size >= MOST_OF_A_USER || this.#size >= MOST) {
      this.#refuse(output, 503, 'too many subscriptions', this.#core.retryAfter());
      return;
    }
    const aor = formatUri(sipUri({ user: resource, host: this.#core.options.publicHost }));
    const subscription = new Subscription(this.#core, {
      request,
      transaction,
      flow,
      event,
      resource,
      subscriber: username,
      eventText: request.header('event') ?? event,
      body: (version) => this.#bodyOf(event, { resource, aor, version }),
      ended: () => this.#ended(subscription),
    });
    this.#add(subscription);
    subscription.begin(requested.seconds);
  }

  #bodyOf(
    event: EventPackage,
    { resource, aor, version }: { resource: string; aor: string; version: number },
  ): string {
    if (event === 'message-summary') return messageSummary(aor);
    if (event === 'dialog') return dialogInfo(aor, version, this.#sources.dialogs.of(resource));
    const { nowMs, options } = this.#core;
    const nowUs = (nowMs + options.wallOffsetMs) * US_PER_MS;
    return regInfo(aor, version, { contacts: this.#sources.contactsOf(resource), nowUs });
  }

  #add(subscription: Subscription): void {
    const { subscriber, event, resource } = subscription.options;
    addTo(this.#byUser, subscriber, subscription);
    addTo(this.#byResource, keyOf(event, resource), subscription);
    this.#size += 1;
  }

  #ended(subscription: Subscription): void {
    const { subscriber, event, resource } = subscription.options;
    removeFrom(this.#byUser, subscriber, subscription);
    removeFrom(this.#byResource, keyOf(event, resource), subscription);
    this.#size -= 1;
  }

  #refuse(
    { request, transaction, flow }: RequestOutput,
    status: number,
    why: string,
    headers: HeaderInit = [],
  ): void {
    this.#core.refuse(transaction, request, flow, status, why, { headers });
  }
}

const keyOf = (event: EventPackage, username: string): string => `${event} ${username}`;

const resourceOf = ({ uri }: SipRequest): string =>
  uri.kind === 'sip' ? unescapeUser(uri.user) : '';

function addTo<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

function removeFrom<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}
