import { afterAll, describe, expect, it } from 'vitest';
import { openNativeSockets } from '../../../src/edge/stream/native.ts';

const LIMITS = {
  maxMessageBytes: 1000,
  accountMessageBytes: 100_000,
  waitingMedia: 50,
  waitingControlBytes: 1000,
  messagesPerSecond: 10,
  messagesBurst: 10,
  bytesPerSecond: 1000,
  bytesBurst: 1000,
  floodMs: 1000,
};

describe('threads of stream sockets', () => {
  const sockets = openNativeSockets(() => undefined, 3);
  afterAll(() => sockets.stop());
  const counts = (): number[] => sockets.counters().threads.map((thread) => thread.sockets);
  const open = (socket: number): void =>
    sockets.open({
      socket,
      addresses: ['127.0.0.1'],
      port: 1,
      secureHost: '',
      request: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      limits: LIMITS,
      account: 'one',
    });

  it('one is used up to a tenth of its time before the next starts; then the least busy one; a released socket leaves its thread', () => {
    for (let socket = 1; socket <= 1203; socket += 1) open(socket);
    expect(counts()).toEqual([401, 401, 401]);
    for (let socket = 1; socket <= 300; socket += 1) sockets.forget(socket);
    expect(counts()).toEqual([101, 401, 401]);
    open(2000);
    expect(counts()).toEqual([102, 401, 401]);
  });
});
