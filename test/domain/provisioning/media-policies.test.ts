import { describe, expect, it } from 'vitest';
import { MediaPolicies } from '../../../src/domain/provisioning/media-policies.ts';

class Retained {
  readonly values = new Map<string, string>();
  readonly get = async (key: string) => this.values.get(key);
  readonly set = async (key: string, value: string) => void this.values.set(key, value);
}

describe('policies for media', () => {
  it('take each field from the endpoint, then the trunk, the carrier, the account', async () => {
    const policies = new MediaPolicies(new Retained());
    await policies.set({ subject: 'account', name: 'MA_1', srtp: 'off', codecs: ['PCMA'] });
    await policies.set({ subject: 'endpoint', name: 'ann', srtp: 'required' });
    await policies.set({ subject: 'carrier', name: 'north', codecs: ['G722', 'PCMU'] });
    const account = 'MA_1';
    expect(policies.of({ account, endpoint: 'ann' })).toEqual({
      srtp: 'required',
      codecs: ['PCMA'],
    });
    expect(policies.of({ account, carrier: 'north' })).toEqual({
      srtp: 'off',
      codecs: ['G722', 'PCMU'],
    });
    expect(policies.of({ account: 'MA_2', endpoint: 'bob' })).toEqual({});
  });

  it('are restored after a restart, without invalid stored values', async () => {
    const retained = new Retained();
    const policies = new MediaPolicies(retained);
    await policies.set({ subject: 'trunk', name: 't1', srtp: 'optional', codecs: ['OPUS'] });
    await policies.set({ subject: 'trunk', name: 't2', srtp: 'off' });
    expect((await policies.remove('trunk', 't2')).ok).toBe(true);
    expect(await policies.remove('trunk', 't2')).toMatchObject({
      error: { kind: 'unknownPolicy' },
    });
    const [key = '', value = ''] = [...retained.values][0] ?? [];
    const odd = [...JSON.parse(value), 7, { subject: 'moon', name: 'x' }];
    retained.values.set(key, JSON.stringify(odd));
    const again = new MediaPolicies(retained);
    await again.load();
    expect(again.list()).toEqual([
      { subject: 'trunk', name: 't1', srtp: 'optional', codecs: ['OPUS'] },
    ]);
  });

  it('are limited in number', async () => {
    const retained = new Retained();
    const policies = new MediaPolicies(retained);
    await policies.set({ subject: 'account', name: '0', srtp: 'off' });
    const [key = ''] = [...retained.values.keys()];
    const most = Array.from({ length: 5000 }, (_, n) => ({
      subject: 'account',
      name: String(n),
      srtp: 'off',
    }));
    retained.values.set(key, JSON.stringify(most));
    await policies.load();
    const more = { subject: 'account', name: 'one more', srtp: 'off' } as const;
    expect(await policies.set(more)).toMatchObject({ error: { kind: 'tooManyPolicies' } });
    expect((await policies.set({ ...more, name: '7' })).ok).toBe(true);
  });

  it('do not change if the change cannot be stored', async () => {
    const retained = new Retained();
    let fails = false;
    const set = async (key: string, value: string) => {
      if (fails) throw new Error('the disk is full');
      await retained.set(key, value);
    };
    const policies = new MediaPolicies({ get: retained.get, set });
    const policy = { subject: 'endpoint', name: 'ann', srtp: 'required' } as const;
    await policies.set(policy);
    fails = true;
    await expect(policies.set({ ...policy, srtp: 'off' })).rejects.toThrow('full');
    await expect(policies.remove('endpoint', 'ann')).rejects.toThrow('full');
    expect(policies.list()).toEqual([policy]);
    fails = false;
    expect((await policies.remove('endpoint', 'ann')).ok).toBe(true);
  });

  it('keep the changes of other nodes', async () => {
    const retained = new Retained();
    const [here, there] = [new MediaPolicies(retained), new MediaPolicies(retained)];
    await here.set({ subject: 'endpoint', name: 'ann', srtp: 'required' });
    await Promise.all([
      there.set({ subject: 'endpoint', name: 'bob', srtp: 'required' }),
      there.set({ subject: 'endpoint', name: 'eve', srtp: 'required' }),
    ]);
    await here.load();
    expect(here.list().map(({ name }) => name)).toEqual(['ann', 'bob', 'eve']);
  });
});
