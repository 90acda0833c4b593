/** A running service between two carriers that tests control: one calls, the other receives calls. */
import { Customer, type Posted } from './customer.ts';
import { makeUser } from './phone.ts';
import { eventually, freePort, newPlace, removePlace, Service } from './service.ts';
import {
  fresh,
  headerIn,
  type Received,
  type RequestText,
  sdpOf,
  tagIn,
  uriIn,
  WirePeer,
} from './wire-peer.ts';

const ADDRESSES = { calling: '127.0.0.2', called: '127.0.0.3' };

export class WireStage {
  readonly service: Service;
  readonly calling: WirePeer;
  readonly called: WirePeer;
  readonly #customer: Customer;
  readonly #close: () => Promise<void>;
  #numbers = 0;

  private constructor(
    parts: Pick<WireStage, 'service' | 'calling' | 'called'> & { readonly customer: Customer },
    close: () => Promise<void>,
  ) {
    this.service = parts.service;
    this.calling = parts.calling;
    this.called = parts.called;
    this.#customer = parts.customer;
    this.#close = close;
  }

  /** Starts the service, with peers at these addresses. */
  static async open(
    settings: Record<string, string> = {},
    at: typeof ADDRESSES = ADDRESSES,
  ): Promise<WireStage> {
    const [customer, place, port] = [
      await Customer.listen(),
      await newPlace(settings),
      await freePort(),
    ];
    const service = await Service.start(place);
    const calling = await WirePeer.udp(at.calling, port);
    const called = await WirePeer.udp(at.called, port);
    const stage = new WireStage({ service, calling, called, customer }, async () => {
      calling.close();
      called.close();
      await service.kill();
      await customer.close();
      removePlace(place);
    });
    await stage.#made('/carriers', carrierAt('calling', at.calling, { port, prefixes: ['999'] }));
    await stage.#made('/carriers', carrierAt('called', at.called, { port, prefixes: [''] }));
    const limits = { concurrent_calls_limit: 100, cps_limit: 100 };
    await service.admin('PATCH', `/accounts/${service.demo.authId}`, limits);
    return stage;
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Creates a number whose calls run this document. `NUMBER` in the document is replaced by the number. */
  async number(elements: string, answer_method = 'POST'): Promise<string> {
    this.#numbers += 1;
    const e164 = `1415555${String(1000 + this.#numbers)}`;
    const { service } = this;
    await this.#made('/numbers', {
      e164,
      country: 'US',
      currency: 'USD',
      account_id: service.demo.authId,
    });
    const xml = `<Response>${elements.replaceAll('NUMBER', e164)}</Response>`;
    const answer_url = this.#customer.xml(`/${e164}`, xml);
    const { appId } = await makeUser(service, `owner${this.#numbers}`, {
      answer_url,
      answer_method,
    });
    const body = { application_id: appId };
    const attached = await service.api('POST', `numbers/${e164}/application`, body);
    if (attached.status !== 204) throw new Error(attached.text);
    return e164;
  }

  /** Returns a URL that answers with this document. */
  document(xml: string): string {
    return this.#customer.xml(`/${fresh('document')}`, xml);
  }

  /** Requests of the service for the document of a number, and callbacks to the same URL. */
  requests(number: string): readonly Posted[] {
    return this.#customer.at(`/${number}`);
  }

  /** Number of requests for the document of a number. */
  documentRequests(number: string): number {
    return this.#customer.at(`/${number}`).filter(({ form }) => form['Event'] !== 'Hangup').length;
  }

  /** Creates a number whose calls are forwarded to the called carrier once. */
  dialling(): Promise<string> {
    const action = this.#customer.xml('/after', '<Response/>');
    return this.number(
      `<Dial callerId="NUMBER" action="${action}" redirect="false"><Number>14155550177</Number></Dial>`,
    );
  }

  caller(number: string, peer = this.calling): WireCaller {
    return new WireCaller(peer, this.service.sipPort, number);
  }

  async callee(limitMs?: number): Promise<WireCallee> {
    return new WireCallee(this.called, await this.called.request('INVITE', limitMs));
  }

  /** Waits until no call is active, and discards queued messages. */
  async quiet(): Promise<void> {
    await eventually('the end of every call', async () =>
      (await this.service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
    for (const peer of [this.calling, this.called]) peer.received.length = 0;
  }

  async #made(path: string, body: object): Promise<void> {
    const answer = await this.service.admin('POST', path, { ...body });
    if (answer.status !== 201) throw new Error(answer.text);
  }
}

const carrierAt = (name: string, host: string, more: object) => ({
  name,
  host,
  transport: 'udp',
  source_addresses: [host],
  ...more,
});

type More = Partial<RequestText>;

/** The caller's side of a dialog, from its first INVITE on. */
export class WireCaller {
  readonly callId = fresh('call');
  cseq = 1;
  readonly #peer: WirePeer;
  readonly #port: number;
  readonly #uri: string;
  readonly #from: string;
  #target: string;
  #branch = '';
  /** CSeq of the latest INVITE. */
  #invited = 1;
  #remoteTag = '';

  constructor(peer: WirePeer, port: number, number: string) {
    this.#peer = peer;
    this.#port = port;
    const host = peer.address.includes(':') ? '[::1]' : '127.0.0.1';
    this.#uri = `sip:${number}@${host}:${port}`;
    this.#target = this.#uri;
    this.#from = `<sip:14155550001@${peer.host}>;tag=${fresh('from')}`;
  }

  get remoteTag(): string {
    return this.#remoteTag;
  }

  get localTag(): string {
    return tagIn(this.#from);
  }

  /** Sends the initial INVITE, or a re-INVITE with the next CSeq. */
  invite(more: More = {}): string {
    this.#branch = `z9hG4bK${fresh('i')}`;
    this.#invited = this.cseq;
    return this.#send('INVITE', { body: sdpOf(), branch: this.#branch, ...more });
  }

  reinvite(more: More = {}): void {
    this.cseq += 1;
    this.invite(more);
  }

  request(method: string, more: More = {}): void {
    this.cseq += 1;
    this.#send(method, more);
  }

  again(text: string): void {
    this.#peer.send(text, this.#port);
  }

  cancel(): void {
    const to = `<${this.#uri}>`;
    this.#send('CANCEL', { branch: this.#branch, to, uri: this.#uri, cseq: 1 });
  }

  /** Stores the dialog that a response creates, and returns the response. */
  met(response: Received): Received {
    this.#remoteTag = tagIn(headerIn(response, 'To'));
    const contact = headerIn(response, 'Contact');
    if (contact !== '') this.#target = uriIn(contact);
    return response;
  }

  acknowledge(more: More = {}): void {
    this.#send('ACK', more);
  }

  /** Waits for a response to the INVITE, and acknowledges a final one. */
  async invited(status: number | 'final', limitMs?: number): Promise<Received> {
    const fits = (received: Received) =>
      received.method === 'INVITE' &&
      headerIn(received, 'Call-ID') === this.callId &&
      Number.parseInt(headerIn(received, 'CSeq'), 10) === this.#invited &&
      (status === 'final' ? received.status >= 200 : received.status === status);
    const response = await this.#peer.next(`${status} to the INVITE`, fits, limitMs);
    if (response.status >= 300) {
      const to = headerIn(response, 'To');
      const cseq = Number.parseInt(headerIn(response, 'CSeq'), 10);
      this.#send('ACK', {
        to,
        cseq,
        branch: this.#branch,
        ...(this.#remoteTag === '' ? { uri: this.#uri } : {}),
      });
    } else this.met(response);
    return response;
  }

  /** Waits for the 200 and acknowledges it. */
  async answered(): Promise<Received> {
    const response = await this.invited(200);
    this.acknowledge();
    return response;
  }

  async requested(method: string, more: More = {}): Promise<Received> {
    this.request(method, more);
    return this.#peer.response(method, 'final');
  }

  hangUp(): Promise<Received> {
    return this.requested('BYE');
  }

  #send(method: string, more: More): string {
    const tag = this.#remoteTag === '' ? '' : `;tag=${this.#remoteTag}`;
    const text = this.#peer.textOf({
      method,
      uri: this.#target,
      from: this.#from,
      to: `<${this.#uri}>${tag}`,
      callId: this.callId,
      cseq: this.cseq,
      ...more,
    });
    this.#peer.send(text, this.#port);
    return text;
  }
}

/** The callee's side of a dialog. Each instance has its own tag, so two instances act as two forks. */
export class WireCallee {
  readonly invite: Received;
  readonly tag = fresh('to');
  #cseq = 100;
  readonly #peer: WirePeer;

  constructor(peer: WirePeer, invite: Received) {
    this.#peer = peer;
    this.invite = invite;
  }

  answer(
    status: string,
    more: { readonly headers?: readonly string[]; readonly body?: string } = {},
  ): void {
    this.#peer.answer(this.invite, status, { tag: this.tag, ...more });
  }

  /** Sends 200 and waits for the ACK. */
  async accept(body = sdpOf()): Promise<Received> {
    this.answer('200 OK', { body });
    return this.#peer.request('ACK');
  }

  /** Sends a refusal and waits for the ACK. */
  async refuse(status: string, headers: readonly string[] = []): Promise<void> {
    this.answer(status, { headers });
    await this.#peer.request('ACK');
  }

  /** Waits for CANCEL, answers it, and ends the INVITE with 487. */
  async withdrawn(): Promise<Received> {
    const cancel = await this.#peer.request('CANCEL');
    this.#peer.answer(cancel, '200 OK', { tag: this.tag });
    await this.refuse('487 Request Terminated');
    return cancel;
  }

  async requested(method: string, more: More = {}): Promise<Received> {
    this.#cseq += 1;
    const text = this.#peer.textOf({
      method,
      uri: uriIn(headerIn(this.invite, 'Contact')),
      cseq: this.#cseq,
      from: `${headerIn(this.invite, 'To')};tag=${this.tag}`,
      to: headerIn(this.invite, 'From'),
      callId: headerIn(this.invite, 'Call-ID'),
      ...more,
    });
    this.#peer.send(text, this.invite.from.port, this.invite.from.address);
    return this.#peer.response(method, 'final');
  }

  /** Answers the service's BYE. */
  async hungUp(): Promise<void> {
    this.#peer.answer(await this.#peer.request('BYE'), '200 OK');
  }
}
