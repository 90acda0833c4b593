/** What differs between the messages of the user agent and those that drachtio-server sends and brings. */
import {
  createRequest,
  type SipMessage,
  SipRequest,
  SipResponse,
  serialize,
} from '../../../protocol/sip/sip.ts';

type Fields = SipMessage['fields'];

/** The server runs session timers (RFC 4028) itself: two clocks for one session would contradict each other. */
const ITS_TIMERS: ReadonlySet<string> = new Set(['session-expires', 'min-se']);
/** What it writes itself in any message. */
const ITS_OWN: ReadonlySet<string> = new Set([
  ...['via', 'route', 'record-route', 'content-length', ...ITS_TIMERS],
]);
const OF_A_DIALOG: ReadonlySet<string> = new Set(['from', 'to', 'call-id', 'cseq']);
const OF_A_REQUEST: ReadonlySet<string> = new Set(['from', 'call-id', 'cseq']);
const WITH_ITS_CONTACT: ReadonlySet<string> = new Set([
  ...['INVITE', 'UPDATE', 'SUBSCRIBE', 'NOTIFY', 'REFER'],
]);
const RELIABLE = '100rel';

/** As the server is to send it. `inDialog`: it knows the dialog, and writes what names it. */
export function requestText(request: SipRequest, inDialog: boolean): Buffer {
  const { method } = request;
  const fields = request.fields.filter(
    ({ key }) =>
      !ITS_OWN.has(key) &&
      !(inDialog && OF_A_DIALOG.has(key)) &&
      !(key === 'contact' && WITH_ITS_CONTACT.has(method)),
  );
  return text(new SipRequest(method, request.requestUri, fields, request.body));
}

/** `isReliable`: a provisional one is to be acknowledged by PRACK (RFC 3262), which the server sees to. */
export function responseText(response: SipResponse, isReliable: boolean): Buffer {
  const { status } = response;
  const isOurs = (key: string): boolean =>
    key !== 'contact' || status >= 300 || response.cseq.method === 'REGISTER';
  const fields = response.fields.filter(
    ({ key }) => !ITS_OWN.has(key) && !OF_A_REQUEST.has(key) && isOurs(key),
  );
  const plain = new SipResponse(status, response.reason, fields, response.body);
  const asks = isReliable && status > 100 && status < 200;
  return text(asks ? plain.withAddedHeader('Require', RELIABLE) : plain);
}

/** A request of a peer, without what the server does about it: session timers, and PRACK for provisional responses. */
export function heardRequest(request: SipRequest): SipRequest {
  return new SipRequest(
    request.method,
    request.requestUri,
    fieldsFor(request, ['timer', RELIABLE]),
    request.body,
  );
}

/** A response to a request of ours, as if it had come to the request that we wrote. */
export function heardResponse(response: SipResponse, to: SipRequest): SipResponse {
  const own = to.fields.filter(({ key }) => key === 'via' || key === 'cseq');
  const told = fieldsFor(response, ['timer']).filter(({ key }) => key !== 'via' && key !== 'cseq');
  return new SipResponse(response.status, response.reason, [...own, ...told], response.body);
}

export const asksForReliable = (request: SipRequest): boolean =>
  request.tokens('require').includes(RELIABLE);

/** The ACK to a refusal, which the server keeps to itself (RFC 3261 §17.1.1.3). */
export function ackOf(request: SipRequest, refusal: SipResponse): Buffer {
  const field = (name: string): string => request.header(name) ?? '';
  const ack = createRequest({
    method: 'ACK',
    requestUri: request.requestUri,
    headers: [
      ['Via', field('via')],
      ['Max-Forwards', '70'],
      ['From', field('from')],
      ['To', refusal.header('to') ?? field('to')],
      ['Call-ID', field('call-id')],
      ['CSeq', `${request.cseq.sequence} ACK`],
    ],
  });
  return serialize(ack);
}

/** Without some extensions, as if the peer had never heard of them. */
function fieldsFor(message: SipMessage, without: readonly string[]): Fields {
  return message.fields.flatMap((field) => {
    if (ITS_TIMERS.has(field.key)) return [];
    if (field.key !== 'supported' && field.key !== 'require') return [field];
    const names = field.value.split(',').map((name) => name.trim());
    const kept = names.filter((name) => name !== '' && !without.includes(name.toLowerCase()));
    return kept.length === 0 ? [] : [{ ...field, value: kept.join(', ') }];
  });
}

/** The server counts bodies itself, and separates them from the head by an empty line. */
const text = (message: SipMessage): Buffer => serialize(message);
