/**
 * Behavior of drachtio-server that its clients depend on: SIP over UDP and TCP on one port, its control protocol on another. It keeps
 * transactions and dialogs, numbers requests inside dialogs itself, and writes Via, Contact and routes itself.
 */
import { systemRandom } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import {
  createRequest,
  createResponse,
  type SipRequest,
  type SipResponse,
} from '../../src/protocol/sip/message.ts';
import { parseMessage } from '../../src/protocol/sip/parse.ts';
import { serialize } from '../../src/protocol/sip/serialize.ts';
import { TransactionLayer } from '../../src/protocol/sip/transaction/layer.ts';
import type { TransactionOutput } from '../../src/protocol/sip/transaction/types.ts';
import type { Flow } from '../../src/protocol/sip/transport/flow.ts';
import { ControlPort } from './control-port.ts';
import { SipPorts } from './sip-ports.ts';

interface Dialog {
  readonly id: string;
  readonly callId: string;
  readonly local: string;
  readonly remote: string;
  readonly flow: Flow;
  readonly contact: string;
  readonly target: string;
  sequence: number;
  /** Sequence number of the INVITE whose 200 waits for an ACK. */
  inviteSequence: number;
}

interface Incoming {
  readonly request: SipRequest;
  readonly transaction: number;
  readonly flow: Flow;
  readonly dialog: Dialog | undefined;
  localTag: string | undefined;
}

interface Outgoing {
  readonly request: SipRequest;
  readonly id: string;
  readonly dialog: Dialog | undefined;
}

const FIRST_SEQUENCE = 7000;

export class DrachtioServer {
  /** By its own names; a dialog that is missing here is one that it has lost. */
  readonly dialogs = new Map<string, Dialog>();
  readonly #layer: TransactionLayer;
  readonly #control: ControlPort;
  readonly #incoming = new Map<string, Incoming>();
  readonly #outgoing = new Map<number, Outgoing>();
  #ports!: SipPorts;
  #count = 0;
  #cancelTimer: () => void = () => undefined;

  private constructor(secret: string) {
    this.#control = new ControlPort(secret, {
      command: (id, words, text) => this.#command(id, words, text),
      welcome: () => {
        const at = `udp/127.0.0.1:${this.sipPort}`;
        return [at, 'v0.9.10', at];
      },
    });
    this.#layer = new TransactionLayer({ newToken: () => this.#token() });
  }

  static async open({
    secret = 'cymru',
    sipPort = 0,
    controlPort = 0,
  } = {}): Promise<DrachtioServer> {
    const server = new DrachtioServer(secret);
    server.#ports = await SipPorts.open(sipPort, (bytes, flow) => server.#received(bytes, flow));
    await server.openControl(controlPort);
    return server;
  }

  get sipPort(): number {
    return this.#ports.port;
  }

  get controlPort(): number {
    return this.#control.port;
  }

  get routes(): ReadonlySet<string> {
    return this.#control.routes;
  }

  openControl(port: number): Promise<void> {
    return this.#control.open(port);
  }

  /** It is gone for those who are connected to it; phones still reach its ports. */
  closeControl(): void {
    this.#control.close();
  }

  /** It gives the peers of all dialogs up, and says so. */
  endBySelf(): void {
    for (const { id, callId, local, remote, target } of this.dialogs.values()) {
      const headers = [
        ['Via', 'SIP/2.0/UDP 127.0.0.1;branch=z9hG4bKself'],
        ['From', local],
      ] as const;
      const named = [
        ['To', remote],
        ['Call-ID', callId],
        ['CSeq', '9 BYE'],
      ] as const;
      const bye = createRequest({
        method: 'BYE',
        requestUri: target,
        headers: [...headers, ...named],
      });
      const meta = [
        'application',
        '1',
        'udp',
        '127.0.0.1',
        '5060',
        '12:00:00.000000',
        'unsolicited',
      ];
      this.#control.write(['sip', ...meta, id, ''], serialize(bye));
    }
    this.dialogs.clear();
  }

  close(): void {
    this.closeControl();
    this.#cancelTimer();
    this.#ports.close();
  }

  // ---------------------------------------------------------------- what the client asks for

  #command(id: string, words: readonly string[], text: string): void {
    const parsed = parseMessage(Buffer.from(text.slice(text.indexOf('\r\n') + 2)));
    if (!parsed.ok) throw new Error(`a client sent ${parsed.error.reason}: ${text}`);
    const { message } = parsed;
    const [transactionId = '', dialogId = '', route = ''] = words;
    if (message.kind === 'response') this.#respond(id, transactionId, message);
    else if (message.method === 'CANCEL') this.#cancel(id, transactionId, message);
    else if (dialogId !== '') this.#inDialog(id, this.dialogs.get(dialogId), message);
    else if (message.header('to') !== undefined && message.to.tag !== undefined) {
      const { callId } = message;
      this.#inDialog(
        id,
        [...this.dialogs.values()].find((d) => d.callId === callId),
        message,
      );
    } else this.#outside(id, route, message);
  }

  #respond(id: string, transactionId: string, message: SipResponse): void {
    const incoming = this.#incoming.get(transactionId);
    if (incoming === undefined) {
      this.#reply(id, ['NOK', 'Response not sent due to unknown transaction']);
      return;
    }
    const { request, flow } = incoming;
    const { status } = message;
    incoming.localTag ??= message.to.tag ?? this.#token();
    const makesDialog = request.method === 'INVITE' || request.method === 'SUBSCRIBE';
    const reliable = message.tokens('require').includes('100rel');
    const isOk = status > 100 && status < 300;
    const response = createResponse(request, status, {
      reason: message.reason,
      toTag: incoming.localTag,
      body: message.body,
      headers: [
        ...message.fields
          .filter(({ key }) => key !== 'to' && key !== 'content-length')
          .map(({ name, value }) => [name, value] as const),
        ...(makesDialog && isOk ? [['Contact', this.#contact(flow)] as const] : []),
        ...(reliable ? [['RSeq', '1'] as const] : []),
      ],
    });
    let { dialog } = incoming;
    if (makesDialog && isOk && dialog === undefined) {
      dialog = this.#dialog({
        callId: request.callId,
        flow,
        target: uriOf(request.header('contact')),
        local: `${request.header('to')};tag=${incoming.localTag}`,
        remote: request.header('from') ?? '',
      });
    }
    if (status >= 200) this.#incoming.delete(transactionId);
    this.#act(this.#layer.respond(incoming.transaction, response, clock.monotonicMs()));
    this.#reply(id, ['OK', ...SENT, transactionId, dialog?.id ?? '', '', 'Msg sent:'], response);
    if (request.method === 'BYE' && dialog !== undefined) this.dialogs.delete(dialog.id);
  }

  #outside(id: string, route: string, message: SipRequest): void {
    const flow = this.#ports.flowTo(route === '' ? message.requestUri : route);
    const { method } = message;
    const hasContact = message.header('contact') !== undefined;
    const makesDialog = method === 'INVITE' || method === 'SUBSCRIBE';
    const contact = makesDialog && !hasContact ? [['Contact', this.#contact(flow)] as const] : [];
    const request = createRequest({
      method,
      requestUri: message.requestUri,
      body: message.body,
      headers: [this.#via(flow), ...fieldsOf(message), ...contact],
    });
    this.#send(id, request, flow, undefined);
  }

  #inDialog(id: string, dialog: Dialog | undefined, message: SipRequest): void {
    if (dialog === undefined) {
      this.#reply(id, ['NOK', 'Server error: unable to find dialog for dialog id provided']);
      return;
    }
    const { method } = message;
    const isAck = method === 'ACK';
    if (!isAck) dialog.sequence += 1;
    if (method === 'INVITE') dialog.inviteSequence = dialog.sequence;
    const named = message.requestUri.includes('placeholder') || isAck;
    const request = createRequest({
      method,
      requestUri: named ? dialog.target : message.requestUri,
      body: message.body,
      headers: [
        this.#via(dialog.flow),
        ['Max-Forwards', '70'],
        ['From', dialog.local],
        ['To', dialog.remote],
        ['Call-ID', dialog.callId],
        ['CSeq', `${isAck ? dialog.inviteSequence : dialog.sequence} ${method}`],
        ['Contact', this.#contact(dialog.flow)],
        ...fieldsOf(message).filter(([name]) => !DIALOGS.has(name.toLowerCase())),
      ],
    });
    if (!isAck) {
      this.#send(id, request, dialog.flow, dialog);
      return;
    }
    this.#ports.send(serialize(request), dialog.flow);
    this.#reply(id, ['OK', ...SENT, this.#next(), 'Msg sent:'], request);
  }

  #send(id: string, request: SipRequest, flow: Flow, dialog: Dialog | undefined): void {
    const { transaction, outputs } = this.#layer.request(request, flow, clock.monotonicMs());
    const named = this.#next();
    this.#outgoing.set(transaction, { request, id: named, dialog });
    this.#reply(id, ['OK', ...SENT, named, 'Msg sent:'], request);
    this.#act(outputs);
  }

  #cancel(id: string, transactionId: string, message: SipRequest): void {
    const [transaction] = [...this.#outgoing].find(([, one]) => one.id === transactionId) ?? [];
    if (transaction === undefined) this.#reply(id, ['NOK', 'unable to cancel']);
    else {
      const headers = fieldsOf(message).filter(([name]) => name === 'Reason');
      this.#reply(id, ['OK', ...SENT, this.#next(), 'Msg sent:'], message);
      this.#act(this.#layer.cancel(transaction, headers, clock.monotonicMs()));
    }
  }

  #reply(to: string, words: readonly string[], message?: SipRequest | SipResponse): void {
    this.#control.reply(to, words, message === undefined ? undefined : serialize(message));
  }

  // ---------------------------------------------------------------- network

  #dispatch(
    flow: Flow,
    transactionId: string,
    dialogId: string,
    message: SipRequest | SipResponse,
  ) {
    const { transport, remoteAddress, remotePort } = flow;
    const bytes = serialize(message);
    const meta = ['network', String(bytes.length), transport, remoteAddress, String(remotePort)];
    const words = ['sip', ...meta, '12:00:00.000000', transactionId, dialogId, ''];
    this.#control.write(words, bytes);
  }

  #received(bytes: Uint8Array, flow: Flow): void {
    this.#act(this.#layer.receive(bytes, flow, clock.monotonicMs()));
  }

  #act(outputs: readonly TransactionOutput[]): void {
    for (const output of outputs) this.#one(output);
    this.#cancelTimer();
    const dueMs = this.#layer.deadlineMs();
    if (dueMs === undefined) return;
    this.#cancelTimer = clock.at(dueMs, () => this.#act(this.#layer.expire(clock.monotonicMs())));
  }

  #one(output: TransactionOutput): void {
    switch (output.kind) {
      case 'send':
        this.#ports.send(output.bytes, output.flow);
        break;
      case 'request':
        this.#request(output);
        break;
      case 'cancel':
        this.#cancelled(output);
        break;
      case 'ack': {
        const dialog = this.#dialogOf(output.request);
        if (dialog !== undefined)
          this.#dispatch(output.flow, this.#next(), dialog.id, output.request);
        break;
      }
      case 'response':
        this.#response(output.transaction, output.response, output.flow);
        break;
      case 'timeout':
        this.#outgoing.delete(output.transaction);
        break;
    }
  }

  #request({ request, transaction, flow }: Extract<TransactionOutput, { kind: 'request' }>): void {
    const dialog = this.#dialogOf(request);
    const { method } = request;
    const isRouted = dialog !== undefined || this.routes.has(method.toLowerCase());
    if (!this.#control.hasClient || !isRouted || (request.to.tag !== undefined && !dialog)) {
      const status = request.to.tag === undefined ? 503 : 481;
      this.#act(
        this.#layer.respond(transaction, createResponse(request, status), clock.monotonicMs()),
      );
      return;
    }
    const id = this.#next();
    this.#incoming.set(id, { request, transaction, flow, dialog, localTag: request.to.tag });
    this.#dispatch(flow, id, dialog?.id ?? '', request);
  }

  #cancelled({
    request,
    transaction,
    invite,
    flow,
  }: Extract<TransactionOutput, { kind: 'cancel' }>) {
    const status = invite === undefined ? 481 : 200;
    this.#act(
      this.#layer.respond(transaction, createResponse(request, status), clock.monotonicMs()),
    );
    const [id, incoming] = [...this.#incoming].find(([, one]) => one.transaction === invite) ?? [];
    if (id === undefined || incoming === undefined) return;
    this.#incoming.delete(id);
    const gone = createResponse(incoming.request, 487, { toTag: incoming.localTag ?? 'none' });
    this.#act(this.#layer.respond(incoming.transaction, gone, clock.monotonicMs()));
    this.#dispatch(flow, id, '', request);
  }

  #response(transaction: number, response: SipResponse, flow: Flow): void {
    const outgoing = this.#outgoing.get(transaction);
    if (outgoing === undefined || response.status === 100) return;
    const { request } = outgoing;
    let { dialog } = outgoing;
    const makesDialog = request.method === 'INVITE' || request.method === 'SUBSCRIBE';
    if (response.status >= 200) this.#outgoing.delete(transaction);
    if (makesDialog && response.status < 300 && dialog === undefined) {
      dialog = this.#dialog({
        callId: request.callId,
        flow,
        local: request.header('from') ?? '',
        remote: response.header('to') ?? '',
        target: uriOf(response.header('contact')),
      });
      dialog.sequence = request.cseq.sequence;
      dialog.inviteSequence = request.cseq.sequence;
    }
    if (request.method === 'BYE' && dialog !== undefined) this.dialogs.delete(dialog.id);
    this.#dispatch(flow, outgoing.id, dialog?.id ?? '', response);
  }

  #dialog(parts: Omit<Dialog, 'id' | 'contact' | 'sequence' | 'inviteSequence'>): Dialog {
    const tag = /tag=([^;]+)/.exec(parts.local)?.[1];
    const id = `${parts.callId};from-tag=${tag}`;
    const known = this.dialogs.get(id);
    const dialog = {
      ...parts,
      id,
      contact: this.#contact(parts.flow),
      sequence: known?.sequence ?? FIRST_SEQUENCE,
      inviteSequence: known?.inviteSequence ?? 0,
    };
    this.dialogs.set(id, dialog);
    return dialog;
  }

  #dialogOf({ callId, to }: SipRequest): Dialog | undefined {
    return to.tag === undefined ? undefined : this.dialogs.get(`${callId};from-tag=${to.tag}`);
  }

  #via({ transport }: Flow): readonly [string, string] {
    const at = `127.0.0.1:${this.sipPort}`;
    return ['Via', `SIP/2.0/${transport.toUpperCase()} ${at};rport;branch=z9hG4bK${this.#token()}`];
  }

  #contact({ transport }: Flow): string {
    const params = transport === 'udp' ? '' : `;transport=${transport}`;
    return `<sip:127.0.0.1:${this.sipPort}${params}>`;
  }

  #token(): string {
    return Buffer.from(systemRandom.bytes(8)).toString('hex');
  }

  #next(): string {
    this.#count += 1;
    return `id-${this.#count}`;
  }
}

/** Settings of a service that uses it. */
export const drachtioSettings = (server: {
  readonly sipPort: number;
  readonly controlPort: number;
}) => ({
  CARILLON_SIP_BACKEND: 'drachtio',
  CARILLON_SIP_PORT: String(server.sipPort),
  CARILLON_DRACHTIO_SERVERS: `127.0.0.1:${server.controlPort}`,
  CARILLON_DRACHTIO_SECRET: 'cymru',
});

/** Source, bytes, protocol, address, port and time of a message that was sent. */
const SENT = ['application', '1', 'udp', '127.0.0.1', '5060', '12:00:00.000000'];
const DIALOGS: ReadonlySet<string> = new Set(['from', 'to', 'call-id', 'cseq', 'max-forwards']);

const fieldsOf = ({ fields }: SipRequest) =>
  fields
    .filter(({ key }) => key !== 'content-length')
    .map(({ name, value }) => [name, value] as const);
const uriOf = (contact = ''): string => /<([^>]*)>/.exec(contact)?.[1] ?? contact;
