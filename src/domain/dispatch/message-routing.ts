/** Routes SIP text messages (RFC 3428): between phones of an account, and to the `message_url` of an application. */
import { type AccountId, asAppId, uuid } from '../../base/ids.ts';
import { plainNumber } from '../../base/phone-number.ts';
import type { Accounts } from '../account/account.ts';
import type { Account } from '../account/types.ts';
import type { InboundText, Texting } from '../call/needs.ts';
import type { CallbackClient } from '../callback/callback.ts';
import type { ApplicationStore, EndpointStore, NumberStore } from '../provisioning/needs.ts';
import type { Application, Endpoint } from '../provisioning/types.ts';
import { isElsewhere, notPermitted } from './endpoint-permissions.ts';
import type { EndpointRate } from './endpoint-rate.ts';
import type { DispatchNeeds } from './needs.ts';

export interface MessageRoutingNeeds
  extends Pick<DispatchNeeds, 'logger' | 'random' | 'addresses'> {
  readonly accounts: Pick<Accounts, 'get' | 'ownerOf'>;
  readonly applications: Pick<ApplicationStore, 'get'>;
  readonly endpoints: Pick<EndpointStore, 'byUsername'>;
  readonly numbers: Pick<NumberStore, 'get'>;
  readonly callbacks: Pick<CallbackClient, 'notify'>;
  readonly texting: Pick<Texting, 'sendText'>;
  readonly isRegistered: (username: string) => boolean;
  readonly rate: EndpointRate;
  readonly registrarHost: string;
}

/** Final status and explanation. */
interface Verdict {
  readonly status: number;
  readonly why?: string;
  readonly retryAfterS?: number;
}

const DELIVERED: Verdict = { status: 200 };
/** Status 202: stored, and delivered once the application is reachable (RFC 3428 §7). */
const ACCEPTED: Verdict = { status: 202 };
const RETRY_AFTER_S = 60;
const NO_APPLICATION: Verdict = {
  status: 404,
  why: 'no application accepts messages for this destination',
};

const unreachable = (why: string): Verdict => ({ status: 480, why });
const forbidden = (why: string): Verdict => ({ status: 403, why });

export class MessageRouting {
  readonly #needs: MessageRoutingNeeds;

  constructor(needs: MessageRoutingNeeds) {
    this.#needs = needs;
  }

  /** Handles a message. */
  accept(text: InboundText): void {
    const { endpointUsername: username } = text;
    const verdict = username === undefined ? this.#toNumber(text) : this.#fromPhone(text, username);
    verdict.then(
      ({ status, ...more }) => text.answer(status, more),
      (error: unknown) => {
        this.#needs.logger.error({ error }, 'text message failed');
        text.answer(500);
      },
    );
  }

  async #fromPhone(text: InboundText, username: string): Promise<Verdict> {
    const { endpoints, accounts, addresses, rate } = this.#needs;
    const sender = await endpoints.byUsername(username);
    const account = sender && (await accounts.get(sender.accountId));
    if (sender === undefined || account === undefined) return { status: 403 };
    const owner = await accounts.ownerOf(account);
    const barred = notPermitted(sender, 'messages');
    if (barred !== undefined) return forbidden(barred);
    if (!rate.take(sender.endpointId)) {
      const why = 'the endpoint exceeds its limit of messages per minute';
      return { status: 503, why, retryAfterS: RETRY_AFTER_S };
    }
    if (isElsewhere(text, addresses)) {
      const foreign = notPermitted(sender, 'otherDomains');
      if (foreign !== undefined) return forbidden(foreign);
      return { status: 404, why: 'messages to other domains are not supported' };
    }
    const receiver = await endpoints.byUsername(text.dialled);
    if (receiver?.accountId === sender.accountId) return this.#toPhone(text, sender, receiver);
    return this.#toApplication(text, sender, { account, owner });
  }

  async #toPhone(text: InboundText, sender: Endpoint, receiver: Endpoint): Promise<Verdict> {
    const { texting, isRegistered, registrarHost } = this.#needs;
    const { username, allowMessage } = receiver;
    const barred = notPermitted(sender, 'sameDomain');
    if (barred !== undefined) return forbidden(barred);
    if (!allowMessage)
      return forbidden(`notPermitted: ${username} does not accept messages (allow_message)`);
    const nobody = unreachable(`no phone is registered as ${username}@${registrarHost}`);
    if (!isRegistered(username)) return nobody;
    const { contentType, body } = text;
    const displayName = text.from.displayName || sender.alias;
    const status = await texting.sendText({
      username,
      from: { user: sender.username, displayName },
      headers: [],
      contentType,
      body,
    });
    if (status === undefined) return unreachable(`no phone of ${username} responded`);
    return status < 300 ? DELIVERED : { status, why: `refused by ${username}` };
  }

  async #toApplication(
    text: InboundText,
    sender: Endpoint,
    { account, owner }: { readonly account: Account; readonly owner: Account },
  ): Promise<Verdict> {
    const { applications, registrarHost } = this.#needs;
    const named = /^\d{1,15}$/.test(text.dialled)
      ? await applications.get(asAppId(Number(text.dialled)))
      : undefined;
    const appId = sender.appId ?? account.defaultEndpointApp ?? owner.defaultEndpointApp;
    const own = appId === undefined ? undefined : await applications.get(appId);
    const barred = notPermitted(sender, 'apps');
    if (barred !== undefined) return forbidden(barred);
    return this.#notify(named?.accountId === owner.authId ? named : own, text, {
      accountId: owner.authId,
      from: `sip:${sender.username}@${registrarHost}`,
      to: partyOf(text, registrarHost),
    });
  }

  /** Routes a carrier's message to the application of a number. */
  async #toNumber(text: InboundText): Promise<Verdict> {
    const { numbers, accounts, applications } = this.#needs;
    const number = await numbers.get(plainNumber(text.dialled));
    const account =
      number?.accountId === undefined ? undefined : await accounts.get(number.accountId);
    if (number?.status !== 'active' || account?.status !== 'active')
      return { status: 404, why: 'this number is not assigned' };
    const owner = await accounts.ownerOf(account);
    const { applicationId } = number;
    const application =
      applicationId === undefined ? undefined : await applications.get(applicationId);
    const from = plainNumber(text.from.user);
    return this.#notify(application, text, { accountId: owner.authId, from, to: number.e164 });
  }

  #notify(
    application: Application | undefined,
    { contentType, body }: InboundText,
    {
      accountId,
      from,
      to,
    }: { readonly accountId: AccountId; readonly from: string; readonly to: string },
  ): Verdict {
    if (application === undefined || !application.enabled || application.messageUrl === '')
      return NO_APPLICATION;
    // Typing and read notifications are not text messages.
    if (!/^text\//i.test(contentType)) return DELIVERED;
    const messageUuid = uuid(this.#needs.random);
    this.#needs.callbacks.notify({
      accountId,
      subject: `message:${messageUuid}`,
      event: 'Message',
      target: { url: application.messageUrl, method: application.messageMethod },
      parameters: [
        ...([
          ['From', from],
          ['To', to],
        ] as const),
        ['Text', Buffer.from(body).toString('utf8')],
        ['Type', 'sip'],
        ['MessageUUID', messageUuid],
        ['Event', 'Message'],
        ['ContentType', contentType],
        ['ParentAuthID', accountId],
      ],
    });
    return ACCEPTED;
  }
}

/** Formats the receiver: a number in its canonical form, or a name as an address at our host. */
function partyOf({ dialled }: InboundText, host: string): string {
  const number = plainNumber(dialled);
  return /^\d+$/.test(number) ? number : `sip:${dialled}@${host}`;
}
