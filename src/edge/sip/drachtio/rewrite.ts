/** Converts between the messages of the user agent and those of drachtio-server. */
import {
  createRequest,
  type SipMessage,
  SipRequest,
  SipResponse,
  serialize,
} from '../../../protocol/sip/sip.ts';

type Fields = SipMessage['fields'];

/** Header fields of session timers (RFC 4028), which only the server runs. Two timers for one session would conflict. */
const ITS_TIMERS: ReadonlySet<string> = new Set(['session-expires', 'min-se']);
/** Header fields that the server adds to every message. */
const ITS_OWN: ReadonlySet<string> = new Set([
  ...['via', 'route', 'record-route', 'content-length', ...ITS_TIMERS],
]);
const OF_A_DIALOG: ReadonlySet<string> = new Set(['from', 'to', 'call-id', 'cseq']);
const OF_A_REQUEST: ReadonlySet<string> = new Set(['from', 'call-id', 'cseq']);
const WITH_ITS_CONTACT: ReadonlySet<string> = new Set([
  ...['INVITE', 'UPDATE', 'SUBSCRIBE', 'NOTIFY', 'REFER'],
]);
const RELIABLE = '100rel';

/** Request to be sent by the server. With `inDialog` the server adds the header fields of the dialog. */
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

/**
 * Response to be sent by the server. `isReliable` requests PRACK for a provisional response (RFC 3262), which the
 * server handles.
 */
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

/** A peer's request without extensions that the server handles: session timers and PRACK. */
export function receivedRequest(request: SipRequest): SipRequest {
  return new SipRequest(
    request.method,
    request.requestUri,
    fieldsFor(request, ['timer', RELIABLE]),
    request.body,
  );
}

/** A response adapted to our original request. */
export function receivedResponse(response: SipResponse, to: SipRequest): SipResponse {
  const own = to.fields.filter(({ key }) => key === 'via' || key === 'cseq');
  const reported = fieldsFor(response, ['timer']).filter(
    ({ key }) => key !== 'via' && key !== 'cseq',
  );
  return new SipResponse(response.status, response.reason, [...own, ...reported], response.body);
}

export const asksForReliable = (request: SipRequest): boolean =>
  request.tokens('require').includes(RELIABLE);

/** ACK to a refusal, which the server does not forward (RFC 3261 §17.1.1.3). */
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

/** Header fields without the given extensions. */
function fieldsFor(message: SipMessage, without: readonly string[]): Fields {
  return message.fields.flatMap((field) => {
    if (ITS_TIMERS.has(field.key)) return [];
    if (field.key !== 'supported' && field.key !== 'require') return [field];
    const names = field.value.split(',').map((name) => name.trim());
    const retained = names.filter((name) => name !== '' && !without.includes(name.toLowerCase()));
    return retained.length === 0 ? [] : [{ ...field, value: retained.join(', ') }];
  });
}

/** The server computes the body length and separates the body by an empty line. */
const text = (message: SipMessage): Buffer => serialize(message);
