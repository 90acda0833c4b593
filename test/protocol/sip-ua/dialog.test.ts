/** Identity, order and routes of one dialog (RFC 3261 §12). */
import { describe, expect, it } from 'vitest';
import { askedBy, Dialog, refusedBy } from '../../../src/protocol/sip/dialog/dialog.ts';
import { MAX_CSEQ } from '../../../src/protocol/sip/header/cseq.ts';
import {
  createRequest,
  createResponse,
  type HeaderInit,
  type SipRequest,
} from '../../../src/protocol/sip/message.ts';

const request = (headers: HeaderInit = [], sequence = 1, uri = 'sip:b@192.0.2.2'): SipRequest =>
  createRequest({
    method: 'INVITE',
    requestUri: uri,
    headers: [
      ['Via', 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1'],
      ['From', '<sip:a@192.0.2.1>;tag=ours'],
      ['To', '<sip:b@192.0.2.2>'],
      ['Call-ID', 'c'],
      ['CSeq', `${sequence} INVITE`],
      ...headers,
    ],
  });
const response = (headers: HeaderInit, status = 180) =>
  createResponse(request(), status, { toTag: 'theirs', headers });
const CONTACT = ['Contact', '<sip:phone@192.0.2.9>'] as const;
const RECORDED = ['Record-Route', '<sip:near;lr>, <sip:far;lr>'] as const;

const routes = (dialog: Dialog) => {
  const { request: sent, nextHop } = dialog.request('PRACK');
  return { uri: sent.requestUri, routes: sent.headers('route'), nextHop };
};

describe('the route set', () => {
  it("is that of the response in reverse order on the caller's side, early and confirmed", () => {
    const recorded = ['Record-Route', '<sip:far;lr>, <sip:near;lr>'] as const;
    const expected = {
      uri: 'sip:phone@192.0.2.9',
      routes: ['<sip:near;lr>', '<sip:far;lr>'],
      nextHop: 'sip:near;lr',
    };
    const dialog = Dialog.fromResponse(askedBy(request()), response([CONTACT, recorded]));
    expect(routes(dialog)).toEqual(expected);
    dialog.settleRoute(response([CONTACT, recorded], 200));
    expect(routes(dialog)).toEqual(expected);
  });

  it("is that of the request in order on the callee's side", () => {
    const dialog = Dialog.fromRequest(request([CONTACT, RECORDED]), 'ours', 1);
    expect(routes(dialog)).toEqual({
      uri: 'sip:phone@192.0.2.9',
      routes: ['<sip:near;lr>', '<sip:far;lr>'],
      nextHop: 'sip:near;lr',
    });
  });

  it('begins with a strict router in the Request-URI, and ends with the target', () => {
    const strict = ['Record-Route', '<sip:near>, <sip:far;lr>'] as const;
    expect(routes(Dialog.fromRequest(request([CONTACT, strict]), 'ours', 1))).toEqual({
      uri: 'sip:near',
      routes: ['<sip:far;lr>', '<sip:phone@192.0.2.9>'],
      nextHop: 'sip:near',
    });
  });

  it('does not change with the target', () => {
    const dialog = Dialog.fromRequest(request([CONTACT, RECORDED]), 'ours', 1);
    dialog.refreshTarget(request([['Contact', '<sip:moved@192.0.2.10?a=b>']], 2));
    expect(routes(dialog)).toMatchObject({
      uri: 'sip:moved@192.0.2.10',
      routes: ['<sip:near;lr>', '<sip:far;lr>'],
    });
    dialog.refreshTarget(request([['Contact', '<tel:+1>']], 3));
    expect(routes(dialog).uri).toBe('sip:moved@192.0.2.10');
  });
});

describe('the CSeq', () => {
  it('of the peer must rise, also after later requests', () => {
    const dialog = Dialog.fromRequest(request([CONTACT], 5), 'ours', 1);
    const arrives = (sequence: number) => dialog.receive(request([], sequence));
    expect([4, 5, 6, 6, 9, 8].map(arrives)).toEqual([false, false, true, false, true, false]);
  });

  it('of ours follows that of the INVITE and starts again at its limit', () => {
    const dialog = Dialog.fromResponse(askedBy(request([], 7)), response([CONTACT]));
    expect([dialog.takeSequence(), dialog.takeSequence()]).toEqual([8, 9]);
    const last = Dialog.fromResponse(askedBy(request([], MAX_CSEQ)), response([CONTACT]));
    expect(last.takeSequence()).toBe(1);
  });
});

it('is secure if it began with sips URIs', () => {
  const secure = (sent: SipRequest) => Dialog.fromRequest(sent, 'ours', 1).isSecure;
  expect(secure(request([CONTACT]))).toBe(false);
  expect(secure(request([CONTACT], 1, 'sips:b@192.0.2.2'))).toBe(true);
  expect(secure(request([['Contact', '<sips:phone@192.0.2.9>']]))).toBe(true);
  expect(secure(request([CONTACT, ['Record-Route', '<sips:near;lr>']]))).toBe(true);
});

it('offers the contacts of a redirection by q, at most four', () => {
  const contacts = [0.1, 1, 0.5, 0.7, 0.3].map((q) => `<sip:q${q * 10}@h>;q=${q}`).join(', ');
  const redirected = response([['Contact', contacts]], 302);
  expect(refusedBy(redirected).contacts).toEqual(['sip:q10@h', 'sip:q7@h', 'sip:q5@h', 'sip:q3@h']);
  expect(refusedBy(response([['Contact', contacts]], 486)).contacts).toBeUndefined();
});
