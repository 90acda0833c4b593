/** Route test: makes the routing decision of a call without placing it. */
import { err, ok, type Result } from '../../base/result.ts';
import { carrierFormat, ranked } from '../provisioning/provisioning.ts';
import { callingOf } from './calling.ts';
import type { ControlRefusal } from './control.ts';
import { Destinations } from './destination.ts';
import { readDialledNumber } from './dialled-number.ts';
import type { DispatchNeeds } from './needs.ts';
import type { CarrierChoice, RouteDecision, RouteQuestion } from './route-decision.ts';

export async function explainRoute(
  { accountId, from, to }: RouteQuestion,
  needs: DispatchNeeds,
): Promise<Result<RouteDecision, ControlRefusal>> {
  const calling = await callingOf(needs, { accountId, subAccount: undefined });
  if (calling === undefined)
    return err({ kind: 'wrongState', detail: 'the account is not active' });
  const destinations = new Destinations(needs);
  const read = readDialledNumber(to, calling.account.country);
  const number = read.kind === 'e164' ? read.e164 : read.kind === 'special' ? read.digits : to;
  const planned = destinations.number(calling, to);
  const callerId = await destinations.callerId(calling, from, { names: false });
  const foreign = callerId === undefined ? `${from} is not a caller ID of this account` : undefined;
  return ok({
    to: number,
    country: read.kind === 'e164' ? read.country : undefined,
    callerId,
    price: planned.ok ? planned.value.price : undefined,
    refusal: planned.ok ? foreign : planned.error.detail,
    carriers: read.kind === 'invalid' ? [] : choices(number, needs),
  });
}

const EXCLUDED = {
  disabled: 'it is disabled',
  prefix: 'its prefixes do not match the number',
  window: 'it does not accept calls at this time of day',
} as const;

function choices(number: string, needs: DispatchNeeds): readonly CarrierChoice[] {
  const { provisioning, signalling, clock } = needs;
  const moment = { wallMs: clock.wallMs() };
  const considered = provisioning.carriers.considered(number, moment);
  const isDown = (name: string): boolean =>
    signalling.isDown({ kind: 'carrier', carrier: name, number });
  const inTurn = ranked(considered, moment);
  const up = inTurn.filter(({ carrier }) => !isDown(carrier.name));
  const down = inTurn.filter(({ carrier }) => isDown(carrier.name));
  const out = considered.filter(({ excluded }) => excluded !== undefined);
  return [...up, ...down, ...out].map(({ carrier, prefix, cost, excluded }, index) => ({
    name: carrier.name,
    rank: excluded === undefined ? index + 1 : undefined,
    why:
      excluded === undefined
        ? isDown(carrier.name)
          ? 'it is currently unavailable'
          : undefined
        : EXCLUDED[excluded],
    prefix,
    priority: carrier.priority,
    cost,
    weight: carrier.policy.weight,
    number: carrierFormat(carrier, number),
  }));
}
