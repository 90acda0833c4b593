import { expect, it } from 'vitest';
import { readRegister } from '../../../src/protocol/sip/registrar/read-register.ts';
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
