/** A service with SIPp peers, each on a separate loopback address. */
import { expect } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { makeUser } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { type SippOptions, type SippRun, startSipp, workFolder } from './tools.ts';

export const OWN_NUMBER = '14155550123';

export interface StageCarrier {
  readonly name: string;
  readonly host: string;
  readonly prefixes?: readonly string[];
  readonly [setting: string]: unknown;
}

export class SippStage {
  readonly service: Service;
  readonly customer: Customer;
  readonly folder: ReturnType<typeof workFolder>;
  /** SIP port of every carrier, on the carrier's own address. */
  readonly port: number;
  readonly #place: ServicePlace;
  readonly #running: SippRun[] = [];
  #mediaPort: number;

  private constructor(
    parts: Pick<SippStage, 'service' | 'customer' | 'folder' | 'port'>,
    place: ServicePlace,
    mediaPort: number,
  ) {
    this.service = parts.service;
    this.customer = parts.customer;
    this.folder = parts.folder;
    this.port = parts.port;
    this.#place = place;
    this.#mediaPort = mediaPort;
  }

  /**
   * Starts the service. `mediaPort` is SIPp's first media port, distinct per parallel file. The demo account owns
   * OWN_NUMBER.
   */
  static async open(mediaPort: number, settings: Record<string, string> = {}): Promise<SippStage> {
    const folder = workFolder();
    const [customer, port] = [await Customer.listen(), await freePort()];
    const place = await newPlace(settings);
    const service = await Service.start(place);
    const stage = new SippStage({ service, customer, folder, port }, place, mediaPort);
    await stage.made('/numbers', {
      e164: OWN_NUMBER,
      country: 'US',
      currency: 'USD',
      account_id: service.demo.authId,
    });
    return stage;
  }

  async close(): Promise<void> {
    for (const run of this.#running) run.stop();
    await this.service.kill();
    await this.customer.close();
    removePlace(this.#place);
    this.folder.remove();
  }

  async made(path: string, body: Json): Promise<void> {
    const answer = await this.service.admin('POST', path, body);
    expect(answer.status, answer.text).toBe(201);
  }

  /** Creates a carrier whose inbound calls come from its listening address. */
  carrier({ name, host, ...more }: StageCarrier): Promise<void> {
    return this.made('/carriers', {
      name,
      host,
      port: this.port,
      transport: 'udp',
      prefixes: [''],
      source_addresses: [host],
      // SIPp starts after the carrier is created, and ends at an unexpected OPTIONS.
      probe: false,
      ...more,
    });
  }

  /** Sets the document for calls to OWN_NUMBER. */
  async answersOwnNumber(xml: string): Promise<void> {
    const { appId } = await makeUser(this.service, 'owner', {
      answer_url: this.customer.xml('/did', xml),
      hangup_url: `http://${this.customer.authority}/did-hangup`,
    });
    const attached = await this.service.api('POST', `numbers/${OWN_NUMBER}/application`, {
      application_id: appId,
    });
    expect(attached.status, attached.text).toBe(204);
  }

  /** Starts SIPp with one call of a scenario, unless `more` overrides it. */
  peer(scenario: string, more: Partial<SippOptions>): SippRun {
    this.#mediaPort += 10;
    const run = startSipp({
      folder: this.folder.path,
      scenario,
      mediaPort: this.#mediaPort,
      calls: 1,
      ...more,
    });
    this.#running.push(run);
    return run;
  }

  /** Starts SIPp as a called party. */
  called(host: string, scenario: string, more: Partial<SippOptions> = {}): SippRun {
    return this.peer(scenario, { localAddress: host, localPort: this.port, ...more });
  }

  /** Places a call to `to` and returns its record. `name` is part of its URLs and must be unique in a stage. */
  async placed(to: string, xml: string, name: string): Promise<Json> {
    const { service, customer } = this;
    const answer = await service.api('POST', 'Call/', {
      from: OWN_NUMBER,
      to,
      answer_url: customer.xml(`/${name}`, xml),
      hangup_url: `http://${customer.authority}/${name}-hangup`,
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    const uuid = await eventually(
      'the hangup notification',
      () => customer.at(`/${name}-hangup`)[0]?.form['CallUUID'],
      40_000,
    );
    return (await service.api('GET', `cdr/${uuid}`)).body['data'] as Json;
  }
}
