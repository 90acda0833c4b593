import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { createEgressGuard, type EgressOptions } from '../../../src/edge/egress/egress.ts';

const names: Record<string, Array<{ address: string; family: 4 | 6 }>> = {
  'public.example': [{ address: '93.184.216.34', family: 4 }],
  'mixed.example': [
    { address: '10.0.0.5', family: 4 },
    { address: '93.184.216.34', family: 4 },
  ],
  'inside.example': [{ address: '192.168.1.10', family: 4 }],
  'empty.example': [],
};

const guard = (options: Partial<EgressOptions> = {}) =>
  createEgressGuard({
    allow: [],
    allowLoopback: false,
    allowInsecure: false,
    resolver: async (name) => {
      const found = names[name];
      if (found === undefined) throw new Error(`queryA ENOTFOUND ${name}`);
      return found;
    },
    ...options,
  });

describe('egress guard: addresses in URLs', () => {
  it.each([
    ['https://127.0.0.1/', 'loopback'],
    ['https://127.1/', 'loopback'],
    ['https://2130706433/', 'loopback'],
    ['https://0x7f.0.0.1/', 'loopback'],
    ['https://0.0.0.0/', 'unspecified'],
    ['https://10.1.2.3/', 'private'],
    ['https://172.16.0.1/', 'private'],
    ['https://192.168.0.1/', 'private'],
    ['https://169.254.169.254/latest/meta-data', 'link-local'],
    ['https://100.64.0.1/', 'carrier-grade'],
    ['https://224.0.0.1/', 'multicast'],
    ['https://255.255.255.255/', 'broadcast'],
    ['https://240.0.0.1/', 'reserved'],
    ['https://[::1]/', 'loopback'],
    ['https://[::]/', 'unspecified'],
    ['https://[fe80::1]/', 'link-local'],
    ['https://[fd00::1]/', 'unique local'],
    ['https://[ff02::1]/', 'multicast'],
    ['https://[::ffff:10.0.0.1]/', 'private'],
    ['https://[::ffff:7f00:1]/', 'loopback'],
    ['https://[64:ff9b::a00:1]/', 'private'],
    ['https://[2002:a00:1::1]/', '6to4'],
    ['wss://127.0.0.1/', 'loopback'],
  ])('refuses %s as a %s address', (url, word) => {
    expect(guard().refuses(url)).toContain(word);
  });

  it.each([
    'https://93.184.216.34/',
    'https://[2606:2800:220:1::1]/',
    'https://[64:ff9b::5db8:d822]/',
  ])('permits the public address in %s', (url) => {
    expect(guard().refuses(url)).toBeUndefined();
  });

  it('permits loopback while the service is on loopback, but no other special address', () => {
    const open = guard({ allowLoopback: true });
    expect(open.refuses('https://127.0.0.1/')).toBeUndefined();
    expect(open.refuses('https://[::1]/')).toBeUndefined();
    expect(open.refuses('https://0.0.0.0/')).toContain('unspecified');
    expect(open.refuses('https://10.0.0.1/')).toContain('private');
  });

  it('permits exactly the addresses and ranges that the operator allowed', () => {
    const open = guard({ allow: ['10.1.0.0/16', 'fd00::/8', '192.168.7.7'] });
    expect(open.refuses('https://10.1.255.1/')).toBeUndefined();
    expect(open.refuses('https://10.2.0.1/')).toContain('private');
    expect(open.refuses('https://[fd12::1]/')).toBeUndefined();
    expect(open.refuses('https://192.168.7.7/')).toBeUndefined();
    expect(open.refuses('https://192.168.7.8/')).toContain('private');
  });

  it('permits http:// and ws:// only if encryption is not required', () => {
    expect(guard().refuses('http://93.184.216.34/')).toContain('not encrypted');
    expect(guard().refuses('ws://93.184.216.34/')).toContain('not encrypted');
    expect(guard({ allowInsecure: true }).refuses('ws://93.184.216.34/')).toBeUndefined();
  });

  it.each(['file:///etc/passwd', 'gopher://x/', 'ftp://93.184.216.34/', 'nonsense', ''])(
    'refuses %s',
    (url) => {
      expect(guard({ allowInsecure: true }).refuses(url)).toBeDefined();
    },
  );
});

describe('egress guard: names', () => {
  it('permits a name with a public address and resolves it', async () => {
    const result = await guard().check('https://public.example/answer');
    expect(result).toEqual({ ok: true, value: [{ address: '93.184.216.34', family: 4 }] });
  });

  it('filters the private addresses of a name', async () => {
    const result = await guard().check('https://mixed.example/');
    expect(result).toEqual({ ok: true, value: [{ address: '93.184.216.34', family: 4 }] });
  });

  it('refuses a name with only private addresses', async () => {
    const result = await guard().check('https://inside.example/');
    expect(result.ok ? '' : result.error).toMatch(/inside\.example.*private/);
  });

  it('permits a name that the operator allowed, as an exact name or by suffix', async () => {
    expect((await guard({ allow: ['inside.example'] }).check('https://inside.example/')).ok).toBe(
      true,
    );
    expect((await guard({ allow: ['*.example'] }).check('https://INSIDE.example./')).ok).toBe(true);
    expect((await guard({ allow: ['side.example'] }).check('https://inside.example/')).ok).toBe(
      false,
    );
  });

  it('reports a name that cannot be resolved', async () => {
    const result = await guard().check('https://nowhere.example/');
    expect(result.ok ? '' : result.error).toMatch(/cannot be resolved: queryA ENOTFOUND/);
    expect((await guard().check('https://empty.example/')).ok).toBe(false);
  });
});

describe('egress guard: connects only to checked addresses', () => {
  const lookup = (hostname: string, options: { all?: boolean }, open = guard()) =>
    new Promise<{ error: Error | null; address: unknown; family: unknown }>((resolve) => {
      open.lookup(hostname, options, (error, address, family) =>
        resolve({ error, address, family }),
      );
    });

  it('lookup returns only permitted addresses', async () => {
    expect((await lookup('mixed.example', { all: true })).address).toEqual([
      { address: '93.184.216.34', family: 4 },
    ]);
    expect(await lookup('mixed.example', {})).toMatchObject({
      address: '93.184.216.34',
      family: 4,
    });
  });

  it('lookup fails with EGRESS_REFUSED if no address is permitted', async () => {
    const { error } = await lookup('inside.example', { all: true });
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'EGRESS_REFUSED' });
  });

  it('checks each resolution of a name, so that DNS rebinding fails', async () => {
    let requested = 0;
    const open = guard({
      resolver: async () => {
        requested += 1;
        return [{ address: requested === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }];
      },
    });
    expect((await open.check('https://rebind.example/')).ok).toBe(true);
    expect((await lookup('rebind.example', { all: true }, open)).error).toMatchObject({
      code: 'EGRESS_REFUSED',
    });
  });

  it('shares one DNS query among simultaneous requests', async () => {
    let requested = 0;
    const open = guard({
      resolver: async () => {
        requested += 1;
        await Promise.resolve();
        return [{ address: '93.184.216.34', family: 4 }];
      },
    });
    await Promise.all([1, 2, 3].map(() => open.check('https://busy.example/')));
    expect(requested).toBe(1);
  });
});
