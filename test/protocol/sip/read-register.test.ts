import { expect, it } from 'vitest';
import { readRegister } from '../../../src/protocol/sip/registrar/read-register.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import { sketch, UDP } from './support.ts';

const reads = (contact: string) =>
  readRegister(sketch({ method: 'REGISTER' }).withHeader('Contact', contact), 'alice', UDP)
    ?.contacts;

it('keeps a contact of up to 2,048 bytes and rejects a longer contact or instance (400)', () => {
  const uri = (bytes: number): string =>
    `sip:${'a'.repeat(bytes - 'sip:@192.0.2.7'.length)}@192.0.2.7`;
  expect(reads(`<${uri(2048)}>`)).toMatchObject([{ uri: uri(2048) }]);
  expect(reads(`<${uri(2049)}>`)).toBeUndefined();
  const instance = (bytes: number): string => `<${uri(40)}>;+sip.instance="${'b'.repeat(bytes)}"`;
  expect(reads(instance(2048))).toHaveLength(1);
  expect(reads(instance(2049))).toBeUndefined();
});

it('keeps up to 20 contacts and rejects more (400)', () => {
  const contacts = (count: number): string =>
    Array.from({ length: count }, (_, n) => `<sip:a${n}@192.0.2.7>`).join(', ');
  expect(reads(contacts(20))).toHaveLength(20);
  expect(reads(contacts(21))).toBeUndefined();
});

it.each([
  ['', 1],
  [';q=0.3', 0.3],
  [';q=0', 0],
  [';q=1.5', 1],
  [';q=-1', 1],
  [';q=x', 1],
])('reads q of "%s" as %d', (parameter, q) => {
  expect(reads(`<sip:a@192.0.2.7>${parameter}`)).toMatchObject([{ q }]);
});

it('reads a flow number of 1 or more, and none without an instance', () => {
  const regIds = (parameters: string) => reads(`<sip:a@192.0.2.7>${parameters}`);
  expect(regIds(';+sip.instance="<i>";reg-id=1')).toMatchObject([{ regId: 1 }]);
  expect(regIds(';+sip.instance="<i>";reg-id=0')).toMatchObject([{ regId: undefined }]);
  expect(regIds(';reg-id=1')).toMatchObject([{ regId: undefined }]);
});

it('takes the connection of an edge proxy for its own, not for that of the phone', () => {
  const register = sketch({ method: 'REGISTER' });
  const flow = { ...UDP, transport: 'tcp', connectionId: 7 } as const;
  const behind = { transport: 'wss', address: '198.51.100.1', port: 443 } as const;
  const flowOf = (from: Flow) => readRegister(register, 'alice', from)?.flow;
  expect(flowOf(flow)).toMatchObject({ transport: 'tcp', connectionId: '7' });
  expect(flowOf({ ...flow, behind })).toMatchObject({ transport: 'wss', connectionId: undefined });
});
