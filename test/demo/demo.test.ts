import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { silentLogger } from '../../src/base/logger.ts';
import { type Demo, startDemo } from '../../src/demo/demo.ts';

const running: Demo[] = [];
afterEach(async () => {
  for (const demo of running.splice(0)) await demo.stop();
});

async function demo(): Promise<Demo> {
  const started = await startDemo({ host: '127.0.0.1', port: 0, logger: silentLogger });
  running.push(started);
  return started;
}

async function connected(url: string): Promise<{ socket: WebSocket; next(): Promise<unknown> }> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const say = (message: unknown): void => socket.send(JSON.stringify(message));
  say({
    event: 'start',
    start: { streamId: 's-1', mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 } },
  });
  return {
    socket,
    async next() {
      const [data] = await once(socket, 'message');
      return JSON.parse(String(data));
    },
  };
}

describe('the built-in demo', () => {
  it('answers a call with a bidirectional stream to its own socket', async () => {
    const { origin, streamUrl } = await demo();
    const response = await fetch(`${origin}/answer`, {
      method: 'POST',
      body: new URLSearchParams({ Event: 'StartApp' }),
    });
    expect(response.headers.get('content-type')).toBe('application/xml');
    const document = await response.text();
    expect(document).toContain(
      'bidirectional="true" keepCallAlive="true" contentType="audio/x-l16;rate=8000"',
    );
    expect(document).toContain(`>${streamUrl}</Stream>`);
  });

  it('takes hangup notifications with an empty 200, and knows nothing else', async () => {
    const { origin } = await demo();
    const response = await fetch(`${origin}/hangup`, { method: 'POST', body: 'Event=Hangup' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect((await fetch(`${origin}/other`)).status).toBe(404);
  });

  it.each(['//', 'http://[', '*'])('answers the request target %s with 404', async (target) => {
    const { hostname, port } = new URL((await demo()).origin);
    const socket = connect(Number(port), hostname);
    socket.end(`OPTIONS ${target} HTTP/1.1\r\nHost: demo\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  });

  it('the bot plays back each frame in the format of the stream', async () => {
    const { streamUrl } = await demo();
    const { socket, next } = await connected(streamUrl);
    socket.send(JSON.stringify({ event: 'media', media: { track: 'inbound', payload: 'AAEC' } }));
    expect(await next()).toEqual({
      event: 'playAudio',
      media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: 'AAEC' },
      streamId: 's-1',
    });
  });

  it('# silences the bot, * ends the stream, rubbish does nothing', async () => {
    const { streamUrl } = await demo();
    const { socket, next } = await connected(streamUrl);
    for (const rubbish of [
      'rubbish',
      'null',
      '7',
      '{"event":"start"}',
      '{"event":"media"}',
      '{"event":"dtmf"}',
    ]) {
      socket.send(rubbish);
    }
    socket.send(JSON.stringify({ event: 'start', start: { streamId: 's-1' } }));
    socket.send(JSON.stringify({ event: 'dtmf', dtmf: { digit: '#' } }));
    expect(await next()).toEqual({ event: 'clearAudio', streamId: 's-1' });
    socket.send(JSON.stringify({ event: 'dtmf', dtmf: { digit: '*' } }));
    expect(await next()).toEqual({ event: 'stop', streamId: 's-1' });
  });

  it('a port in use is one clear line', async () => {
    const { origin } = await demo();
    const port = Number(new URL(origin).port);
    await expect(
      startDemo({ host: '127.0.0.1', port, logger: silentLogger }),
    ).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });

  it('stops with streams open', async () => {
    const started = await startDemo({ host: '127.0.0.1', port: 0, logger: silentLogger });
    const { socket } = await connected(started.streamUrl);
    const closed = once(socket, 'close');
    await started.stop();
    await closed;
  });
});
