/** A phone with a link-local IPv6 address only, on another machine of the link. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasIpv6 } from '../has-ipv6.ts';
import { makeUser } from './phone.ts';
import { Scene } from './scene.ts';
import { eventually } from './service.ts';

const NAME = `carillon-${process.pid}`;
const [OUTER, INNER] = [`cl${process.pid}o`, `cl${process.pid}i`];
/** Address of the service, from the range of documentation. */
const HOST = '2001:db8:77::1';

const ip = (...args: readonly string[]): string => {
  const run = spawnSync('ip', args, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`ip ${args.join(' ')}: ${run.stderr}`);
  return run.stdout;
};
const canHaveNetworks = process.getuid?.() === 0 && spawnSync('ip', ['netns', 'list']).status === 0;

describe.skipIf(!hasIpv6 || !canHaveNetworks)('a phone with a link-local address', () => {
  let scene: Scene;

  beforeAll(async () => {
    ip('netns', 'add', NAME);
    ip('link', 'add', OUTER, 'type', 'veth', 'peer', 'name', INNER);
    ip('link', 'set', INNER, 'netns', NAME);
    ip('address', 'add', `${HOST}/64`, 'dev', OUTER, 'nodad');
    ip('link', 'set', OUTER, 'up');
    ip('-n', NAME, 'link', 'set', INNER, 'up');
    ip('-n', NAME, 'route', 'add', `${HOST}/128`, 'dev', INNER);
    // Link-local addresses are usable after duplicate address detection.
    await eventually('link-local addresses of both ends', () => {
      const shown =
        ip('address', 'show', 'dev', OUTER) + ip('-n', NAME, 'address', 'show', 'dev', INNER);
      const isReady =
        (shown.match(/inet6 fe80::/g)?.length ?? 0) === 2 && !shown.includes('tentative');
      return isReady ? true : undefined;
    });
    scene = await Scene.open({
      CARILLON_SIP_HOST: '::',
      CARILLON_SIP_PUBLIC_HOST: '127.0.0.1',
      CARILLON_SIP_PUBLIC_HOST6: HOST,
      CARILLON_RTP_HOST: '::',
      CARILLON_RTP_PUBLIC_HOST: '127.0.0.1',
      CARILLON_RTP_PUBLIC_HOST6: HOST,
    });
  });
  afterAll(async () => {
    await scene?.close();
    spawnSync('ip', ['link', 'del', OUTER]);
    spawnSync('ip', ['netns', 'del', NAME]);
  });

  it('is answered and sends and receives RTP on its link, and no message names an interface', async () => {
    const { service } = scene;
    const next = scene.document('/pressed', '<Hangup/>');
    const document = `<GetDigits action="${next}" numDigits="1" timeout="20"><Play>${scene.sounds.endless}</Play></GetDigits>`;
    const user = await makeUser(service, 'near', { answer_url: scene.document('/near', document) });
    const script = join(import.meta.dirname, 'link-local-phone.ts');
    const phone = [script, HOST, String(service.sipPort), user.username, user.password, INNER];
    const { stdout } = await promisify(execFile)(
      'ip',
      ['netns', 'exec', NAME, process.execPath, ...phone],
      { timeout: 50_000 },
    );
    const { own, via, heard, answer } = JSON.parse(stdout);
    expect(own).toMatch(/^fe80::/);
    expect(answer).toBe(HOST);
    expect(heard).toBeGreaterThan(10);
    expect(via).not.toContain('%');
    expect((await scene.reported('/pressed'))['Digits']).toBe('5');
  });
});
