import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { loadNativeAddon } from '../../src/base/native-addon.ts';
import { Supervisor } from '../../src/service/supervisor.ts';
import { SimClock } from '../sim/clock.ts';

function supervised(place: { readonly socket?: string; readonly watchdogUs?: string }) {
  const clock = new SimClock();
  const reported: string[] = [];
  let well = true;
  const supervisor = new Supervisor({
    socket: place.socket,
    watchdogUs: place.watchdogUs,
    clock,
    logger: silentLogger,
    isWell: () => well,
    send: (socket, text) => reported.push(`${socket} ${text}`) > 0,
  });
  return {
    clock,
    reported,
    supervisor,
    fallIll: () => {
      well = false;
    },
  };
}

const LIVE = '/run/notify WATCHDOG=1';

describe('the supervisor', () => {
  it('receives readiness, and three keep-alives per watchdog interval', async () => {
    const { clock, reported, supervisor } = supervised({
      socket: '/run/notify',
      watchdogUs: '30000000',
    });
    supervisor.ready('up');
    expect(reported).toEqual(['/run/notify READY=1\nSTATUS=up', LIVE]);
    await clock.advance(30_000);
    expect(reported.slice(2)).toEqual([LIVE, LIVE, LIVE]);
    supervisor.stopping('going');
    supervisor.stop();
    await clock.advance(60_000);
    expect(reported.slice(5)).toEqual(['/run/notify STOPPING=1\nSTATUS=going']);
  });

  it('receives no keep-alives while the media engine has stalled', async () => {
    const { clock, reported, supervisor, fallIll } = supervised({
      socket: '/run/notify',
      watchdogUs: '30000000',
    });
    supervisor.ready('up');
    fallIll();
    await clock.advance(60_000);
    expect(reported).toHaveLength(2);
    supervisor.stop();
  });

  it('is optional, and receives keep-alives only if the watchdog is enabled', async () => {
    const alone = supervised({ watchdogUs: '30000000' });
    alone.supervisor.ready('up');
    await alone.clock.advance(60_000);
    expect(alone.reported).toEqual([]);
    alone.supervisor.stop();
    const calm = supervised({ socket: '/run/notify' });
    calm.supervisor.ready('up');
    calm.supervisor.reloading();
    calm.supervisor.reloaded();
    await calm.clock.advance(60_000);
    expect(calm.reported.map((line) => line.split(/[ \n]/)[1])).toEqual([
      'READY=1',
      'RELOADING=1',
      'READY=1',
    ]);
  });
});

const LISTENER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
s.bind('\\0' + name[1:] if name[0] == '@' else name)
print('listening', flush=True)
print(s.recv(4096).decode().replace('\\n', '|'), flush=True)
`;

describe('the notification datagram', () => {
  const addon = loadNativeAddon() as { notifySupervisor(socket: string, text: string): boolean };
  const hasPython = spawnSync('python3', ['--version']).status === 0;

  it.skipIf(!hasPython).each(['path', 'abstract'])(
    'sends to a socket by its %s name',
    async (kind) => {
      const folder = mkdtempSync(join(tmpdir(), 'carillon-notify-'));
      const name = kind === 'path' ? join(folder, 'notify') : `@carillon-${process.pid}`;
      const child = spawn('python3', ['-c', LISTENER, name], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      expect((await lines.next()).value).toBe('listening');
      expect(addon.notifySupervisor(name, 'READY=1\nSTATUS=up')).toBe(true);
      expect((await lines.next()).value).toBe('READY=1|STATUS=up');
      await once(child, 'close');
      rmSync(folder, { recursive: true });
    },
  );

  it('returns false for an invalid socket without blocking', () => {
    expect(addon.notifySupervisor('/nowhere/notify', 'READY=1')).toBe(false);
    expect(addon.notifySupervisor(`/${'x'.repeat(200)}`, 'READY=1')).toBe(false);
    expect(addon.notifySupervisor('', 'READY=1')).toBe(false);
    expect(addon.notifySupervisor('relative', 'READY=1')).toBe(false);
  });
});
