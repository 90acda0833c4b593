import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SprayOrder, SprayReport } from '../rtp-sender.ts';
import type { Field, Scenario } from '../scenario.ts';

const SENDER = fileURLToPath(new URL('../rtp-sender.ts', import.meta.url));
const GRACE_MS = 20_000;
/** Packets per call that the unknown source may receive before the caller's first packet arrives (average). */
const LEAKED_PACKETS = 0.5;

export const scenario: Scenario = {
  about:
    'sequential RTP, 50 packets per second to every RTP port, from before each call until after its end',
  // A smaller range than usual, because every port is attacked.
  environment: { CARILLON_RTP_PORT_MIN: '22000', CARILLON_RTP_PORT_MAX: '22399' },
  async attack(field) {
    const before = await sourceChanges(field);
    const { sent, got } = await spray({
      portMin: field.service.rtpPortMin,
      portMax: field.service.rtpPortMax,
      seconds: field.seconds,
    });
    return [
      { name: 'packets per second', value: sent / field.seconds, unit: '/s' },
      { name: 'packets received by the unknown source', value: got, unit: '' },
      {
        name: 'packets received by the unknown source per second',
        value: got / field.seconds,
        unit: '/s',
        atMost: LEAKED_PACKETS,
      },
      { name: 'source changes', value: (await sourceChanges(field)) - before, unit: '' },
    ];
  },
};

function spray(order: SprayOrder): Promise<SprayReport> {
  const child = fork(SENDER, { timeout: order.seconds * 1000 + GRACE_MS });
  child.send(order);
  return new Promise((resolve, reject) => {
    child.once('message', (report) => resolve(report as SprayReport));
    child.once('exit', (code, signal) => reject(new Error(`the sender ended: ${signal ?? code}`)));
  });
}

async function sourceChanges({ service }: Field): Promise<number> {
  const { text } = await service.get('/metrics');
  return Number(/^voice_rtp_source_changes_total (\d+)$/m.exec(text)?.[1]);
}
