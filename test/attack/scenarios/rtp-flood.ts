import { Phones } from '../../../bench/stream/phones.ts';
import { systemRandom as random } from '../../../src/base/system-random.ts';
import { systemClock as clock } from '../../../src/edge/clock/system-clock.ts';
import { writeWav } from '../../../src/phone/audio/wav.ts';
import { SipLine } from '../../../src/phone/sip-line.ts';
import { Customer } from '../../e2e/customer.ts';
import { babble, makeUser, type SipUser } from '../../e2e/phone.ts';
import type { Service } from '../../e2e/service.ts';
import { ask } from '../legitimate-call.ts';
import type { Field, Figure, Scenario } from '../scenario.ts';
import { type DatagramKind, flood } from '../udp-flood.ts';

/** Number of calls in addition to the attacked one. */
const PARALLEL_CALLS = 20;
const PER_SECOND = 20_000;
const SECONDS = 3;
/** Limit of the 99th percentile of lateness, ms. A packet this late follows a gap of 25 ms. */
const LATE_MS = 5;
const SOUND_SECONDS = 10;

let customer: Customer | undefined;
let user: SipUser | undefined;

export const scenario: Scenario = {
  about: `${PER_SECOND} datagrams per second to the port of one call, then to its closed port, during ${PARALLEL_CALLS} other calls with audio: RTP of an unknown source, invalid RTP, invalid RTCP`,
  async prepare(service) {
    customer = await Customer.listen();
    const wav = writeWav({ rate: 8000, samples: babble(SOUND_SECONDS) });
    const sound = customer.page('/flood.wav', (response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav);
    });
    const answer = customer.page('/flood', (response) => {
      const xml = `<Response><Play loop="0">${sound}</Play></Response>`;
      response.writeHead(200, { 'content-type': 'application/xml' }).end(xml);
    });
    user = await makeUser(service, 'flooded', { answer_url: answer });
  },
  async attack(field) {
    const phones = await Phones.start(PARALLEL_CALLS + 1, 0);
    // Each line holds one call.
    const lines: SipLine[] = [];
    try {
      const calls = [];
      for (const port of phones.ports) {
        const line = await lineOf(field.service);
        lines.push(line);
        calls.push(await ask(line, '1000', port));
      }
      const legs = calls.map((call) => call?.peerPort ?? 0);
      // The last call is the attacked one.
      const target = legs.at(-1) ?? 0;
      await phones.talk(legs);
      const figures: Figure[] = [
        {
          name: 'calls',
          value: legs.filter((port) => port > 0).length,
          unit: '',
          atLeast: PARALLEL_CALLS + 1,
        },
      ];
      const kinds = [
        ['rtp', target, 'unknown_source'],
        ['broken-rtp', target, 'malformed'],
        ['broken-rtcp', target + 1, 'unknown_source'],
      ] as const;
      for (const [kind, port, counter] of kinds)
        figures.push(...(await under(field, phones, { kind, port, counter })));
      calls.at(-1)?.hangup();
      await calls.at(-1)?.ended;
      const gone = { kind: 'broken-rtp', port: target, counter: undefined } as const;
      figures.push(...(await under(field, phones, gone)));
      for (const call of calls.slice(0, -1)) call?.hangup();
      await Promise.all(calls.map((call) => call?.ended));
      return figures;
    } finally {
      for (const line of lines) await line.close();
      await phones.stop();
      await customer?.close();
    }
  },
};

interface Flood {
  readonly kind: DatagramKind;
  readonly port: number;
  /** Counter that must include the datagrams; undefined for a closed port, where no counter applies. */
  readonly counter: 'unknown_source' | 'malformed' | undefined;
}

async function under(
  { service, username }: Field,
  phones: Phones,
  { kind, port, counter }: Flood,
): Promise<readonly Figure[]> {
  const before = counter === undefined ? 0 : await counted(service, counter);
  await phones.beginWindow();
  const order = { port, seconds: SECONDS, perSecond: PER_SECOND, username };
  const { sent, answers } = await flood({ ...order, sources: ['127.0.0.1'], kinds: [kind] });
  const { p99, lost } = await phones.lateness();
  const title = counter === undefined ? `${kind} at a closed port` : kind;
  return [
    { name: `${title}: datagrams a second`, value: sent / SECONDS, unit: '/s' },
    { name: `${title}: answers`, value: answers, unit: '', atMost: 0 },
    { name: `${title}: RTP of other calls, late p99`, value: p99, unit: 'ms', atMost: LATE_MS },
    { name: `${title}: RTP of other calls, lost`, value: lost, unit: '', atMost: 0 },
    ...(counter === undefined
      ? []
      : [
          {
            name: `${title}: counted`,
            value: (await counted(service, counter)) - before,
            unit: '',
            // The RTP socket of a call is connected, so the kernel drops packets from other sources.
            ...(kind === 'broken-rtcp' ? { atLeast: 1 } : {}),
          },
        ]),
  ];
}

async function counted(service: Service, what: string): Promise<number> {
  const { text } = await service.get('/metrics');
  return Number(new RegExp(`^voice_rtp_${what}_packets_total (\\d+)$`, 'm').exec(text)?.[1]);
}

function lineOf(service: Service): Promise<SipLine> {
  if (user === undefined) throw new Error('no user was prepared');
  const way = { host: '127.0.0.1', port: service.sipPort, transport: 'udp' } as const;
  return SipLine.open({ ...user, ...way, clock, random });
}
