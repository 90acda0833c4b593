/** A service with callers, callees and a customer around it, warmed up. */

import { Customer } from './customer.ts';
import { Listeners } from './listeners.ts';
import type { CallKind } from './options.ts';
import { type Subject, warmUp } from './rates.ts';
import {
  ANSWERED_BY_XML,
  CALLEE_NUMBER,
  CALLER_ID,
  GOES_TO_TRUNK,
  Service,
  SIP_PORT,
} from './service.ts';
import { Callee, type CallerRun, type Invite, placeCalls } from './sipp.ts';
import { describe, type Step, step } from './step.ts';

const dial = (number: string): string =>
  `<Response><Dial callerId="${CALLER_ID}"><Number>${number}</Number></Dial></Response>`;
const numberOf = (kind: CallKind): string => (kind === 'trunk' ? GOES_TO_TRUNK : ANSWERED_BY_XML);
/** Number of digits at the end of a number that identify a call. */
export const ENDING_DIGITS = 3;
export interface RigOptions {
  readonly root: string;
  readonly folder: string;
  readonly kind: CallKind;
  /** Notes the INVITEs of both ends; the callee's number ends like the caller's. */
  readonly trace?: boolean;
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class Rig implements Subject {
  readonly service: Service;
  readonly #customer: Customer;
  readonly #callee: Callee;
  readonly #options: RigOptions;
  #placed = 0;

  private constructor(service: Service, customer: Customer, callee: Callee, options: RigOptions) {
    this.service = service;
    this.#customer = customer;
    this.#callee = callee;
    this.#options = options;
  }

  static async start(options: RigOptions): Promise<Rig> {
    const trace = options.trace === true;
    const customer = await Customer.start((from) =>
      dial(
        trace ? CALLEE_NUMBER.slice(0, -ENDING_DIGITS) + from.slice(-ENDING_DIGITS) : CALLEE_NUMBER,
      ),
    );
    const callee = await Callee.start(options.folder, trace);
    const service = await Service.start({ ...options, customerUrl: customer.url });
    const rig = new Rig(service, customer, callee, options);
    const broken = await warmUp(rig);
    if (broken === undefined) return rig;
    await rig.stop();
    throw new Error(`the warm-up failed: ${describe(broken)}\n${broken.complaints}`);
  }

  async step(rate: number, seconds: number): Promise<Step> {
    const { folder, kind, trace = false } = this.#options;
    const number = numberOf(kind);
    const at = {
      pid: this.service.pid,
      port: SIP_PORT,
      number,
      folder,
      callee: this.#callee,
      trace,
    };
    const one = await step({ ...at, rate, seconds });
    this.#placed += one.calls;
    return one;
  }

  /** Holds calls in addition to those of the steps. Resolves when the last has ended. */
  hold(calls: number, rate: number, holdMs: number): Promise<CallerRun> {
    const { folder, kind } = this.#options;
    this.#placed += calls;
    const number = numberOf(kind);
    return placeCalls({ port: SIP_PORT, number, folder, calls, rate, holdMs, isSecond: true });
  }

  /** Calls with audio that stay until they are stopped. */
  async listen(calls: number): Promise<Listeners> {
    const url = `${this.#customer.url}/hold`;
    const logins = await this.service.createEndpoints(calls, url);
    return Listeners.start(SIP_PORT, logins);
  }

  /** INVITEs that came to the callee; needs `trace`. */
  arrived(): readonly Invite[] {
    return this.#callee.invites();
  }

  /** Returns the results of all calls so far as text. */
  totals(): string {
    const { answers, callbacks } = this.#customer;
    return `${this.#placed} calls: ${this.service.callRecords()} records, ${answers} answer requests, ${callbacks} callbacks`;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.#callee.stop();
    this.#customer.stop();
  }
}
