/** A re-INVITE that requests another packet time, in a call that is relayed without decoding (RFC 8866 §6.4). */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { eventually } from './service.ts';
import { sdpOf } from './wire-peer.ts';
import { WireStage } from './wire-stage.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function socketAt(address: string): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, address);
  closers.push(() => socket.close());
  await once(socket, 'listening');
  return socket;
}

it('gets packets of the new length, and of the old length after the next one', async () => {
  const stage = await WireStage.open();
  closers.push(() => stage.close());
  const near = await socketAt('127.0.0.2');
  const far = await socketAt('127.0.0.3');
  let latest = 0;
  near.on('message', (packet) => {
    latest = packet.length - 12;
  });
  const media = (socket: Socket) => `m=audio ${socket.address().port} RTP/AVP 0`;
  const offer = (version: number, ms: number) =>
    sdpOf({ address: '127.0.0.2', version, media: `${media(near)}\r\na=ptime:${ms}` });
  const call = stage.caller(await stage.dialling());
  call.invite({ body: offer(1, 20) });
  const callee = await stage.callee();
  await callee.accept(sdpOf({ address: '127.0.0.3', media: media(far) }));
  await call.answered();
  const port = Number(/^m=audio (\d+) /m.exec(callee.invite.body)?.[1]);
  const packet = Buffer.alloc(172, 0x55);
  packet.writeUInt16BE(0x8000, 0);
  let sent = 0;
  const timer = setInterval(() => {
    packet.writeUInt16BE(sent, 2);
    packet.writeUInt32BE(sent * 160, 4);
    sent += 1;
    far.send(packet, port, '127.0.0.1');
  }, 20);
  closers.push(() => clearInterval(timer));
  for (const [version, ms] of [20, 40, 20].entries()) {
    if (version > 0) {
      call.reinvite({ body: offer(version + 1, ms) });
      await call.answered();
    }
    await eventually(`packets of ${ms} ms`, () => (latest === ms * 8 ? true : undefined));
  }
  await call.hangUp();
  await callee.hungUp();
  expect(latest).toBe(160);
});
