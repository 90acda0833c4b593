/** Runs the messages of `fixtures/sip-corpus`, one per rule of the specifications. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseMessage } from '../../../src/protocol/sip/parse.ts';
import { serialize } from '../../../src/protocol/sip/serialize.ts';
import { TransactionLayer } from '../../../src/protocol/sip/transaction/layer.ts';
import { parsed, UDP } from './support.ts';
import { verdict } from './verdict.ts';

interface Row {
  readonly section: string;
  readonly rule: string;
  readonly expect: 'accept' | 'reject';
  readonly status?: number | null;
  readonly body?: string;
  readonly message: readonly string[];
}

const FILE = new URL('../../../fixtures/sip-corpus/messages.json', import.meta.url);
const rows = JSON.parse(readFileSync(FILE, 'utf8')) as readonly Row[];
const bytesOf = ({ message }: Row): Buffer => Buffer.from(message.join('\r\n'));
const of = (wanted: Row['expect']) =>
  rows.flatMap((row) => (row.expect === wanted ? [[row.section, row.rule, row] as const] : []));

describe('messages by rule', () => {
  test('contains messages of both kinds, with different names', () => {
    expect(of('accept').length).toBeGreaterThan(30);
    expect(of('reject').length).toBeGreaterThan(30);
    expect(new Set(rows.map(({ section, rule }) => section + rule)).size).toBe(rows.length);
  });

  test.each(of('accept'))('%s: accepts %s', (_section, _rule, row) => {
    expect(verdict(bytesOf(row))).toBeUndefined();
  });

  test.each(of('accept'))('%s: keeps the meaning of %s when written again', (_, _rule, row) => {
    const message = parsed(bytesOf(row));
    expect(Buffer.from(message.body).toString()).toBe(row.body ?? '');
    const again = parsed(serialize(message));
    for (const name of ['Via', 'From', 'To', 'Call-ID', 'CSeq', 'Contact'])
      expect(again.headers(name)).toEqual(message.headers(name));
  });

  test.each(of('reject'))('%s: rejects %s', (_section, _rule, row) => {
    const fault = verdict(bytesOf(row));
    expect(fault).toBeDefined();
    if (typeof row.status === 'number') expect(fault?.status).toBe(row.status);
  });

  test.each(of('reject'))('%s: answers %s with the status, or not at all', (_, _rule, row) => {
    const layer = new TransactionLayer({ newToken: () => 'token' });
    const outputs = layer.receive(bytesOf(row), UDP, 0);
    const sent = outputs.flatMap((output) => (output.kind === 'send' ? [output.bytes] : []));
    const statuses = sent.map((bytes) => {
      const result = parseMessage(bytes);
      return result.ok && result.message.kind === 'response' ? result.message.status : undefined;
    });
    expect(statuses).toEqual(typeof row.status === 'number' ? [row.status] : []);
  });
});
