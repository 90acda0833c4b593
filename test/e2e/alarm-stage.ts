/**
 * A service with low alarm thresholds, the recipients of its alarms, and a carrier whose callees are silent, on hold,
 * muted, busy or short.
 */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { DAY_MS } from '../../src/base/duration.ts';
import { type SmtpServer, smtpServer } from '../edge/mail/smtp-server.ts';
import { Carrier, type Fate } from './carrier.ts';
import { carrierSdp } from './carrier-message.ts';
import { Customer } from './customer.ts';
import { accountWithHistory } from './history.ts';
import {
  type AccountKey,
  freePort,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

const FROM = '14155550100';
const SECRET = 'key-of-the-hook';
/** Short thresholds and check intervals: the tests verify the alarms, not the waiting times. */
const LIMITS = {
  CARILLON_ALARMS_EVERY_MS: '300',
  CARILLON_ALARMS_CARRIER_DOWN_MS: '1000',
  CARILLON_ALARMS_CLEAR_MS: '1500',
  CARILLON_ALARMS_ANSWER_RATIO_PERCENT: '50',
  CARILLON_ALARMS_SPEND_FACTOR: '5',
  CARILLON_ALARMS_SPEND_FLOOR: '0',
  CARILLON_SIP_CARRIER_PROBE_MS: '500',
};
/** One-way audio is detected after 10 s without RTP; the service checks every 5 s. */
const JUDGED_MS = 16_000;

/** Carrier numbers, grouped by the behavior of their callees. */
export const CALLEES = {
  silent: ['14155550201', '14155550202', '14155550203'],
  onHold: '14155550210',
  muted: '14155550211',
  /** A number in a country that the account has never called. */
  abroad: '447400123456',
  busy: numbers('141555503', 32),
  short: numbers('141555504', 50),
} as const;

function numbers(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(2, '0')}`);
}

interface Reported {
  readonly state: string;
  readonly kind: string;
  readonly subject: string;
  readonly detail: string;
}

export class AlarmStage {
  /** Every alarm change that the webhook received, in order. */
  readonly reported: Reported[] = [];
  /** Bodies of webhook requests with an invalid signature. */
  readonly badSignatures: string[] = [];
  readonly account: AccountKey;
  #service: Service | undefined;
  readonly #place: ServicePlace;
  readonly #customer: Customer;
  readonly #mail: SmtpServer;
  readonly #hook: Server;
  readonly #carrier: Carrier;
  readonly #callee: { readonly socket: Socket; readonly stop: () => void };
  readonly #gonePort: number;
  #carrierAgain: Carrier | undefined;
  readonly #hasDisk: boolean;

  private constructor(parts: {
    place: ServicePlace;
    account: AccountKey;
    customer: Customer;
    mail: SmtpServer;
    hook: Server;
    carrier: Carrier;
    callee: { readonly socket: Socket; readonly stop: () => void };
    gonePort: number;
    hasDisk: boolean;
  }) {
    this.account = parts.account;
    this.#place = parts.place;
    this.#customer = parts.customer;
    this.#mail = parts.mail;
    this.#hook = parts.hook;
    this.#carrier = parts.carrier;
    this.#callee = parts.callee;
    this.#gonePort = parts.gonePort;
    this.#hasDisk = parts.hasDisk;
    parts.hook.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        this.#posted(body, String(request.headers['x-carillon-signature']));
        response.end();
      });
    });
  }

  /** Starts a service with two days of history, because anomaly alarms need a history to compare with. */
  static async open(): Promise<AlarmStage> {
    const [mail, hook, callee, customer] = await Promise.all([
      smtpServer(),
      listening(),
      mutedCallee(),
      Customer.listen(),
    ]);
    const carrier = await Carrier.listen(fateOf(callee.socket.address().port));
    const gonePort = await freePort();
    const empty = await newPlace();
    const hasDisk = mount(empty.dataDir);
    const settings = join(empty.dataDir, '..', 'carillon.yaml');
    const carriers = `${listed('north', carrier.port, '')}${listed('gone', gonePort, '999')}`;
    writeFileSync(settings, `carriers:\n${carriers}`);
    await writeCertificate(empty, 10);
    const place: ServicePlace = {
      ...empty,
      environment: {
        ...empty.environment,
        ...LIMITS,
        CARILLON_CONFIG: settings,
        CARILLON_MAIL_SMTP_URL: mail.url,
        CARILLON_ALARMS_EMAIL: 'noc@example.com',
        CARILLON_ALARMS_WEBHOOK_URL: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
        CARILLON_ALARMS_WEBHOOK_SECRET: SECRET,
        CARILLON_SIP_TLS_CERT_FILE: certificateFile(empty),
        CARILLON_SIP_TLS_KEY_FILE: join(empty.dataDir, '..', 'sip.key'),
      },
    };
    const known = { sinceUs: (Date.now() - 3 * DAY_MS) * 1000, countries: ['US'] };
    const account = await accountWithHistory(place.dataDir, {
      days: 3,
      settings: { 'alarm.countries.MA_AAAAAAAAAAAAAAAAA': JSON.stringify(known) },
    });
    const parts = { place, account, customer, mail, hook, carrier, callee, gonePort, hasDisk };
    // The alarm recipients are configured before the first alarm is raised.
    const stage = new AlarmStage(parts);
    stage.#service = await Service.start(place);
    await stage.service.admin('POST', `/accounts/${account.authId}/caller-ids`, {
      number: `+${FROM}`,
    });
    await stage.service.admin('PATCH', `/accounts/${account.authId}`, {
      concurrent_calls_limit: 200,
      cps_limit: 100,
    });
    return stage;
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error('not started');
    return this.#service;
  }

  async restart(): Promise<void> {
    await this.service.stop();
    this.#service = await Service.start(this.#place);
  }

  async close(): Promise<void> {
    await this.#service?.kill();
    this.#callee.stop();
    this.#carrier.close();
    this.#carrierAgain?.close();
    await this.#customer.close();
    this.#mail.server.close();
    this.#hook.close();
    if (this.#hasDisk) execFileSync('umount', ['-l', this.#place.dataDir]);
    removePlace(this.#place);
  }

  /** Alarms in `state` that the webhook and the mail server received, as `kind subject`, sorted. */
  notifications(state: 'raised' | 'cleared'): {
    readonly posted: string[];
    readonly mailed: string[];
  } {
    const posted = this.reported
      .filter((change) => change.state === state)
      .map(({ kind, subject }) => `${kind} ${subject}`.trim());
    // Quoted-printable encoding breaks long lines (RFC 2045 §6.7).
    const text = this.#mail.seen.join('\n').replaceAll('=\n', '').replaceAll('=3D', '=');
    const lines = text.matchAll(new RegExp(`^${state.toUpperCase()} (.*)$`, 'gm'));
    const mailed = [...lines].map(([, what = '']) => what.trim());
    return { posted: posted.sort(), mailed: mailed.sort() };
  }

  async call(to: readonly string[]): Promise<void> {
    const answer = this.#customer.xml('/answer', '<Response><Wait length="60"/></Response>');
    const request = { from: FROM, to: to.join('<'), answer_url: answer };
    const placed = await this.service.api('POST', 'Call/', request, this.account);
    if (placed.status >= 300) throw new Error(placed.text);
  }

  /** Alarms that every start raises; includes the disk alarm only if a disk can be mounted. */
  get ofTheMachine(): readonly string[] {
    return this.#hasDisk
      ? [`disk ${this.#place.dataDir}`, 'certificate sip.tlsCertFile']
      : ['certificate sip.tlsCertFile'];
  }

  /** Removes the causes of all alarms that a test can clear. */
  async mend(): Promise<void> {
    this.#carrierAgain = await Carrier.listen(() => ({ kind: 'rings' }), this.#gonePort);
    await writeCertificate(this.#place, 365);
    const { dataDir } = this.#place;
    if (this.#hasDisk) execFileSync('mount', ['-o', 'remount,size=16g', dataDir]);
    await this.service.admin('POST', `/accounts/${this.account.authId}/credit`, {
      amount: 100,
      currency: 'USD',
      description: 'top-up',
    });
  }

  #posted(body: string, given: string): void {
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    if (given !== `sha256=${signature}`) this.badSignatures.push(given);
    this.reported.push(...(JSON.parse(body) as { alarms: Reported[] }).alarms);
  }
}

const listed = (name: string, port: number, prefix: string): string =>
  `  - { name: ${name}, host: 127.0.0.1, port: ${port}, transport: udp, prefixes: ['${prefix}'] }\n`;

const fateOf =
  (mutedPort: number) =>
  (number: string): Fate => {
    const { silent, onHold, muted, busy } = CALLEES;
    const answered = { kind: 'answered', talkMs: JUDGED_MS } as const;
    if (silent.some((one) => one === number)) return answered;
    if (number === onHold) return { ...answered, sdp: carrierSdp(9, 'inactive') };
    if (number === muted) return { ...answered, sdp: carrierSdp(mutedPort) };
    return busy.includes(number)
      ? { kind: 'refused', status: '486 Busy Here' }
      : { kind: 'answered', talkMs: 100 };
  };

async function listening(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A muted callee: it sends only one comfort-noise packet per second (RFC 3389). */
async function mutedCallee() {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  let sequence = 0;
  let to: { readonly port: number; readonly address: string } | undefined;
  socket.on('message', (_, from) => {
    to = from;
  });
  const timer = setInterval(() => {
    if (to === undefined) return;
    const packet = Buffer.alloc(13);
    packet.writeUInt16BE(0x80_0d, 0);
    packet.writeUInt16BE(sequence, 2);
    packet.writeUInt32BE(sequence * 8000, 4);
    packet.writeUInt32BE(0x5f_5f_5f_5f, 8);
    packet.writeUInt8(60, 12);
    sequence += 1;
    socket.send(packet, to.port, to.address);
  }, 1000);
  const stop = (): void => {
    clearInterval(timer);
    socket.close();
  };
  return { socket, stop };
}

/** Mounts a disk small enough to raise the disk alarm. Returns false if mounting is not possible. */
function mount(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const certificateFile = ({ dataDir }: ServicePlace): string => join(dataDir, '..', 'sip.crt');

async function writeCertificate(place: ServicePlace, days: number): Promise<void> {
  const made = await generate([{ name: 'commonName', value: 'voice.test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + days * DAY_MS + DAY_MS / 2),
  });
  writeFileSync(join(place.dataDir, '..', 'sip.key'), made.private);
  writeFileSync(certificateFile(place), made.cert);
}
