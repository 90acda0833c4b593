/** Caller identity: effect of verification on inbound calls, and signing of outbound calls. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallerProof } from '../../../src/domain/call/needs.ts';
import type { CarrierPolicy } from '../../../src/domain/provisioning/types.ts';
import { calledFrom, placed, refusedFrom } from '../../spec/calls/phone.ts';
import { type CallService, DID, FAR, HOST, openCallService } from '../../spec/calls/service.ts';
import { document } from '../../spec/calls/site.ts';

const WITH_PROOF = { headers: [['Identity', 'token;info=<https://x>']] } as const;
const WRONG = { isVerified: false, status: 438, why: 'orig does not match From' } as const;

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
  service.site.on('/answer', document('<Hangup/>'));
});
afterEach(() => service.close());

const carrier = async (policy: CarrierPolicy): Promise<void> => {
  const patched = await service.provisioning.carriers.patch('north', { policy });
  if (!patched.ok) throw new Error(patched.error.kind);
};
const proofIs = (proof: CallerProof) => {
  const verify = vi.fn(async () => proof);
  service.lines.proofs.verify = verify;
  return verify;
};

describe('a call from a carrier', () => {
  it('reports a verified number in callbacks and record', async () => {
    const verify = proofIs({ isVerified: true, attestation: 'B' });
    await calledFrom(service, {}, WITH_PROOF);
    expect(verify).toHaveBeenCalledWith({
      identity: ['token;info=<https://x>'],
      orig: [FAR, `sip:${FAR}@192.0.2.10`],
      dest: [DID, `sip:${DID}@${HOST}`, DID, `sip:${DID}@${HOST}`],
      date: undefined,
    });
    const said = { STIRVerification: 'Verified', STIRAttestation: 'B' };
    expect(service.site.reported('/answer')[0]).toMatchObject(said);
    expect(service.site.reported('/hangup')[0]).toMatchObject({
      stir_verification: 'Verified',
      STIRAttestation: 'B',
    });
    expect(await service.cdr()).toMatchObject({
      stirVerification: 'Verified',
      stirAttestation: 'B',
    });
  });

  it.each([
    ['an invalid signature', {}, WITH_PROOF, WRONG, 'Not Verified'],
    ['no signature', {}, {}, WRONG, 'Not Applicable'],
    ['an ignored signature', { stir: 'off' }, WITH_PROOF, WRONG, 'Not Verified'],
    ['no signature under refuse', { stir: 'refuse' }, {}, WRONG, 'Not Applicable'],
  ] as const)('proceeds with %s', async (_, policy, leg, proof, said) => {
    await carrier(policy);
    proofIs(proof);
    await calledFrom(service, {}, leg);
    expect(service.site.reported('/answer')[0]).toMatchObject({ STIRVerification: said });
  });

  it('proceeds without trust anchors, regardless of the policy', async () => {
    await carrier({ stir: 'require' });
    await calledFrom(service, {}, {});
    expect(service.site.reported('/answer')[0]).toMatchObject({
      STIRVerification: 'Not Applicable',
    });
  });

  it.each([
    ['refuse', WITH_PROOF, WRONG, 'refuse 438 orig does not match From'],
    ['require', {}, { ...WRONG, status: 428, why: 'no Identity' }, 'refuse 428 no Identity'],
  ] as const)('is refused under %s before it becomes a call', async (stir, leg, proof, sent) => {
    await carrier({ stir });
    proofIs(proof);
    expect(await refusedFrom(service, leg)).toEqual([sent]);
    expect(await service.cdrs()).toEqual([]);
  });
});

describe('an outbound call', () => {
  beforeEach(() => {
    service.lines.proofs.sign = async ({ orig, dest, attestation }) =>
      `${orig} ${dest} ${attestation}`;
  });
  const identity = () =>
    service.signalling.last.options.headers.filter(([name]) => name === 'Identity');

  it('is signed with the attestation of its number', async () => {
    await placed(service);
    expect(identity()).toEqual([['Identity', `${DID} ${FAR} A`]]);
    expect(service.live()[0]?.facts.stirAttestation).toBe('A');
  });

  it('is not signed for a carrier without signatures', async () => {
    await carrier({ sign: false });
    await placed(service);
    expect(identity()).toEqual([]);
    expect(service.live()[0]?.facts.stirAttestation).toBe('');
  });

  it('proceeds unsigned if signing fails', async () => {
    service.lines.proofs.sign = () => Promise.reject(new Error('no key'));
    await placed(service);
    expect(identity()).toEqual([]);
  });

  it("of a Dial is signed again, without the caller's signature", async () => {
    service.site.on('/answer', document(`<Dial callerId="${DID}"><Number>${FAR}</Number></Dial>`));
    await calledFrom(service, { from: '14155550188' }, WITH_PROOF);
    expect(identity()).toEqual([['Identity', `${DID} ${FAR} A`]]);
  });
});
